"""Where new text goes: a key after its table's keys, a block after its neighbours, an entry after the entries.

It exists so that a new line lands where a person would have written it. It refuses to look at values; whether the
result says what was intended is judged by splice.
"""

from collections.abc import Mapping

from trainplan.plan import blocks, inline
from trainplan.plan.blocks import Change, changed
from trainplan.plan.literals import dotted_key, key_text
from trainplan.plan.places import Block, Places, Span, ValuePath
from trainplan.plan.skeleton import open_place


def container_of(places: Places, path: ValuePath) -> ValuePath | None:
    """The innermost array or inline table that is written around `path`, or at it."""
    above = (path[:length] for length in range(len(path), 0, -1))
    return next((p for p in above if p in places.members), None)


def with_value(text: str, places: Places, parent: ValuePath, path: ValuePath, literal: str) -> str:
    """Writes a key that is absent; `parent` is the nearest table that exists."""
    around = container_of(places, parent)
    if around is not None:
        return inline.with_member(text, places, around, f"{dotted_key(path[len(around) :])} = {literal}")
    block = _dotted_home(places, parent) or (_own_block(places, parent) if len(path) == len(parent) + 1 else None)
    if block is None:
        return with_block(text, places, parent, f"[{dotted_key(path[:-1])}]", {str(path[-1]): literal})
    kept = open_place(text, places, block, str(path[-1])) if block.path == path[:-1] else None
    if kept is not None:
        return changed(text, [Change(kept[0], f"{kept[1]}{key_text(str(path[-1]))} = {literal}")])
    return _with_line(text, places, block, parent, f"{dotted_key(path[len(block.path) :])} = {literal}")


def _own_block(places: Places, table: ValuePath) -> Block | None:
    return next((block for block in places.blocks if block.path == table), None)


def _dotted_home(places: Places, table: ValuePath) -> Block | None:
    """The block whose dotted keys make `table`; TOML allows that table no header of its own."""
    for block in reversed(places.blocks):
        inside = len(block.path) < len(table)
        if inside and any(blocks.begins_with(m.path, table) for m in block.members):
            return block
    return None


def _with_line(text: str, places: Places, block: Block, table: ValuePath, line: str) -> str:
    """Writes `line` after the last statement of `block` that lies in `table`, or under its header."""
    ends = [m.span.end for m in block.members if blocks.begins_with(m.path, table)]
    if not ends and not block.path:
        return _with_first_line(text, places, line)
    position = ends[-1] if ends else block.header.end
    end = blocks.line_end(text, position)
    last = next((m.span.start for m in block.members if m.span.end == position), block.header.start)
    return changed(text, [Change(Span(end, end), blocks.newline(text) + blocks.indent(text, last) + line)])


def _with_first_line(text: str, places: Places, line: str) -> str:
    end = blocks.newline(text)
    if len(places.blocks) > 1:
        top = blocks.block_start(text, places.blocks[1])
        return changed(text, [Change(Span(top, top), line + end * 2)])
    position = blocks.last_line(text)
    return changed(text, [Change(Span(position, position), end + line if position else line + end)])


def with_block(text: str, places: Places, near: ValuePath, header: str, items: Mapping[str, str]) -> str:
    """Writes a block after the last one in `near` or above it, or at the end of the file, after a blank line."""
    above = (near[:length] for length in range(len(near), 0, -1))
    numbers = next((found for path in above if (found := blocks.under(places, path))), [])
    position = blocks.block_end(text, places.blocks[numbers[-1]]) if numbers else blocks.last_line(text)
    end = blocks.newline(text)
    lines = end.join([header, *(f"{key_text(name)} = {literal}" for name, literal in items.items())])
    added = end * 2 + lines if position else lines + end
    return changed(text, [Change(Span(position, position), added)])


def with_entry(text: str, places: Places, array: ValuePath, last: int, items: Mapping[str, str]) -> str:
    block = places.blocks[blocks.under(places, (*array, last))[0]]
    position = blocks.block_end(text, places.blocks[blocks.under(places, array)[-1]])
    end = blocks.newline(text)
    outer = blocks.indent(text, block.header.start)
    inner = blocks.indent(text, block.members[0].span.start) if block.members else outer
    lines = [f"{inner}{key_text(name)} = {literal}" for name, literal in items.items()]
    apart = end if last == 0 or blocks.after_blank(text, blocks.block_start(text, block)) else ""
    added = end + apart + end.join([f"{outer}[[{dotted_key(array)}]]", *lines])
    return changed(text, [Change(Span(position, position), added)])


def with_entry_order(text: str, places: Places, array: ValuePath, order: list[int]) -> str:
    """Writes the entries in another order into the places that entries have; an entry in pieces becomes one piece."""
    pieces = [blocks.runs(text, places, (*array, number)) for number in order]
    gap = blocks.newline(text) * 2
    texts = [gap.join(run.of(text) for run in runs) for runs in pieces]
    changes: list[Change] = []
    for number, (moved, written) in enumerate(zip(order, texts, strict=True)):
        first, *rest = pieces[order.index(number)]
        if moved != number:
            changes += [Change(first, written), *(blocks.run_removed(text, run) for run in rest)]
    return changed(text, changes)
