"""A plan of many sources and two stages with a length and a batch of their own, for measuring what a large mixture costs."""

from __future__ import annotations

from pathlib import Path

PLAN = Path(__file__).resolve().parents[2] / "plans" / "llama-3.1-8b.toml"


def many_sources(count: int = 60) -> str:
    """The text of the plan of Llama 3.1 8B, its calendar and tasks kept, with so many sources and two stages that draw them."""
    head, rest = PLAN.read_text(encoding="utf-8").split("[[data.sources]]", 1)
    return f"{head}{_sources(count)}{_stages(count)}[batch]{rest.split('[batch]', 1)[1]}"


def _sources(count: int) -> str:
    return "".join(
        f'[[data.sources]]\nname = "source {place}"\nunique_tokens = "{100 + place}B"\nweight = {1 / count!r}\n'
        f"mean_document_tokens = {500 + 10 * place}\n\n"
        for place in range(count)
    )


def _stages(count: int) -> str:
    whole = count * (count + 1) / 2
    rising = ", ".join(f'"source {place}" = {(place + 1) / whole!r}' for place in range(count))
    return (
        '[[data.stages]]\nname = "main"\nuntil_tokens = "14T"\n\n'
        '[[data.stages]]\nname = "anneal"\nsequence_length = 32768\nglobal_batch_sequences = 256\n'
        f"weights = {{ {rising} }}\n\n"
    )
