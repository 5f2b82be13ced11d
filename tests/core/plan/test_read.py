"""Every kind of error of a plan file: its exact place and words, all of them at once and in file order."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainplan.plan.read import PlanError, Unusable, open_plan, plan_of_text

TOKENS = "A number of tokens from 1 to 1e17 such as 15.6T or 15.6e12"
UNTOLD = "not a number of tokens. A number of tokens such as 15.6T or 15.6e12"
TIMES = "A time such as 3d 4h or 15min"


def errors(text: str) -> tuple[PlanError, ...]:
    with pytest.raises(Unusable) as caught:
        plan_of_text(text, "plan.toml")
    return caught.value.errors


def one(line: str, table: str = "data") -> PlanError:
    """The only error of a plan whose third line is `line`."""
    (error,) = errors(f"format = 1\n[{table}]\n{line}\n")
    return error


@pytest.mark.parametrize(
    ("table", "line", "column", "message"),
    [
        ("data", "train_tokens = nan", 16, f"train_tokens is nan. {TOKENS}"),
        ("data", "train_tokens = inf", 16, f"train_tokens is inf. {TOKENS}"),
        ("data", "train_tokens = 1e999", 16, f"train_tokens is inf. {TOKENS}"),
        ("data", "train_tokens = true", 16, f"train_tokens is true. {TOKENS}"),
        ("data", "train_tokens = 0", 16, f"train_tokens is 0. {TOKENS}; nearest: 1"),
        ("data", "train_tokens = -5", 16, f"train_tokens is -5. {TOKENS}; nearest: 1"),
        ("data", "train_tokens = 1.5", 16, f"train_tokens is 1.5, not a whole number. {TOKENS}; nearest: 2"),
        ("data", 'train_tokens = "15.6t"', 16, f'train_tokens is "15.6t", {UNTOLD}; nearest: 15.6T'),
        ("data", 'train_tokens = "15.6 trillion"', 16, f'train_tokens is "15.6 trillion", {UNTOLD}; nearest: 15.6T'),
        ("data", 'train_tokens = "many"', 16, f'train_tokens is "many", {UNTOLD}'),
        ("data", 'train_tokens = ""', 16, 'train_tokens is "", empty. A number of tokens such as 15.6T or 15.6e12'),
        ("cluster", "nodes = 9223372036854775807", 9,
         "nodes is 9223372036854775807. A whole number from 1 to 1,000,000,000; nearest: 1000000000"),
        ("cluster", "nodes = [1]", 9, "nodes is a list of 1. A whole number from 1 to 1,000,000,000"),
        ("cluster", "nodes = 2026-12-07", 9, "nodes is 2026-12-07. A whole number from 1 to 1,000,000,000"),
        ("cluster", "pue = 0.9", 7, "pue is 0.9. A number from 1 to 1,000,000; nearest: 1"),
        ("utilization", "value = 1.2", 9, "utilization.value is 1.2. A number above 0, at most 1"),
        ("utilization", "value = 0", 9, "utilization.value is 0. A number above 0, at most 1"),
        ("utilization", 'value = "40%"', 9, 'utilization.value is "40%", not a number. A number such as 0.40; nearest: 0.4'),
        ("data", 'document_mask = "yes"', 17, 'document_mask is "yes". Only true or false'),
        ("data", "packing = 3", 11, "packing is 3. One of concat, best-fit, pad"),
        ("data", 'packing = "Concat"', 11, 'packing is "Concat". One of concat, best-fit, pad; nearest: concat'),
        ("training", 'precision = "bf16"', 13,
         'precision is "bf16". One of fp32, bf16-mixed, bf16-pure, fp16-mixed, fp8-mixed; nearest: bf16-pure'),
        ("schedule", 'start = "2026-12-07"', 9, 'schedule.start is "2026-12-07". A date such as 2026-12-07'),
        ("schedule", "start = 2026-12-07T10:00:00", 9, "schedule.start is 2026-12-07 10:00:00. A date such as 2026-12-07"),
        ("storage", 'write_bandwidth = "100GB"', 19,
          'write_bandwidth is "100GB", not a rate in bytes or bits. A rate in bytes or bits such as 400Gb/s or 50GB/s'),
        ("storage", 'capacity = "2 PB/s"', 12,
         'capacity is "2 PB/s", not a size in bytes. A size in bytes such as 80GiB or 1.5TB'),
        ("reliability", 'restart_time = "15 minutes"', 16, f'restart_time is "15 minutes", not a time. {TIMES}'),
        ("reliability", "job_time_limit = 0", 18,
         "job_time_limit is 0. A time above 0, at most 10,000,000,000 such as 3d 4h or 15min"),
        ("cluster", 'currency = "US$"', 12, 'currency is "US$". A word of letters such as USD'),
        ("cluster", "accelerator = 3", 15, "accelerator is 3. Text in quotes"),
        ("model", 'preset = "llama3.1-8b"', 10,
         'preset is "llama3.1-8b", not in the catalogue of models. Nearest: llama-3.1-8b'),
        ("cluster", 'accelerator = "H100_SXM"', 15,
         'accelerator is "H100_SXM", not in the catalogue of accelerators. Nearest: h100-sxm'),
    ],
)  # fmt: skip
def test_wrong_value(table: str, line: str, column: int, message: str) -> None:
    found = one(line, table)
    assert (found.file, found.line, found.column) == ("plan.toml", 3, column)
    assert found.message == message
    assert str(found) == f"plan.toml:3:{column}: {message}"


def test_past_64_bits() -> None:
    found = one("nodes = 9223372036854775808", "cluster")
    assert (found.line, found.column) == (3, 9)
    assert "64 bits" in found.message


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("format = 1\n[data]\ntrain_token = 1\n", 3, 1, "unknown field data.train_token. Nearest: train_tokens"),
        ("format = 1\n[date]\ntrain_tokens = 1\n", 2, 2, "unknown table date. Nearest: data"),
        ("format = 1\nsequence_length = 1\n", 2, 1, "unknown field sequence_length. Nearest: data.sequence_length"),
        ("format = 1\n[data]\n  zzzzzz = 1\n", 3, 3, "unknown field data.zzzzzz. Known here:"),
        ("format = 1\n[model.moe]\nexperts = 8\n", 3, 1, "unknown field model.moe.experts. Nearest: num_experts"),
    ],
)
def test_unknown_key_is_placed_at_the_key(text: str, line: int, column: int, message: str) -> None:
    (found,) = errors(text)
    assert (found.line, found.column) == (line, column)
    assert found.message.startswith(message)


def test_missing_format_is_placed_at_the_top() -> None:
    (found,) = errors("[data]\ntrain_tokens = 1\n")
    assert (found.line, found.column) == (1, 1)
    assert found.message == "format is missing. format = 1 is the first line of a plan"
    assert found.fix == "format = 1"


def test_other_format() -> None:
    (found,) = errors("format = 2\n")
    assert (found.line, found.column, found.message) == (1, 10, "format is 2. Only 1")


def test_empty_file_misses_its_format() -> None:
    assert [error.message for error in errors("")] == ["format is missing. format = 1 is the first line of a plan"]


def test_table_where_a_value_is_wanted_and_the_other_way() -> None:
    (found,) = errors("format = 1\ndata = 3\n")
    assert (found.line, found.column, found.message) == (2, 8, "data is 3. A table")
    (found,) = errors("format = 1\n[data.train_tokens]\nx = 1\n")
    assert found.line == 2
    assert found.message.startswith("train_tokens is a table.")


def test_entries_are_placed_in_their_own_block() -> None:
    text = 'format = 1\n[[data.sources]]\nname = "a"\n[[data.sources]]\nname = "a"\nunique_tokens = -1\nweigth = 1\n'
    assert [(error.line, error.column) for error in errors(text)] == [(5, 8), (6, 17), (7, 1)]


def test_names_used_twice() -> None:
    text = 'format = 1\n[[data.sources]]\nname = "a"\n[[data.sources]]\nname = "a"\n'
    (found,) = errors(text)
    assert (found.line, found.column) == (5, 8)
    assert found.message == 'two source entries are called "a". Names are unique'


def test_source_name_with_a_dot() -> None:
    (found,) = errors('format = 1\n[[data.sources]]\nname = "a.b"\n')
    assert (found.line, found.column) == (3, 8)
    assert found.message == 'name is "a.b". A name without dot, quote or control character'


def test_unknown_source_in_the_weights_of_a_stage() -> None:
    text = 'format = 1\n[[data.sources]]\nname = "web"\n[[data.stages]]\nname = "s"\nweights = { wbe = 1.0 }\n'
    (found,) = errors(text)
    assert (found.line, found.column) == (6, 13)
    assert found.message == "unknown source wbe in the weights of stage s. Nearest: web"


def test_several_at_once_in_file_order() -> None:
    text = (
        "# a plan\n[cluster]\nnodes = 0\n\n[data]\ntrain_tokens = nan\nsampler = 'megatron'\ntypo = 1\n\n"
        "[utilization]\nvalue = 2\n"
    )
    found = errors(text)
    assert [(error.line, error.column) for error in found] == [(1, 1), (3, 9), (6, 16), (7, 11), (8, 1), (11, 9)]
    assert len({error.path for error in found}) == 6


def test_names_are_looked_up_beside_fields_that_are_wrong() -> None:
    text = """format = 1
[model]
preset = "llama-3.1-8x"
foo = 1
[[data.sources]]
name = "web"
unique_tokens = "many"
[[data.stages]]
weights = { web = 0.5, coed = 0.5 }
[cluster]
accelerator = "h100-sx"
"""
    told = [(error.line, error.path) for error in errors(text)]
    assert told == [
        (3, "model.preset"),
        (4, "model.foo"),
        (7, "data.sources.0.unique_tokens"),
        (9, "data.stages.0.weights.coed"),
        (11, "cluster.accelerator"),
    ]


@pytest.mark.parametrize("source", ["name = 1", 'name = "a.b"'])
def test_no_source_is_called_unknown_where_a_name_is_wrong(source: str) -> None:
    text = f"format = 1\n[[data.sources]]\n{source}\n[[data.stages]]\nweights = {{ web = 1.0 }}\n"
    assert [error.path for error in errors(text)] == ["data.sources.0.name"]


def test_syntax_error_stands_alone() -> None:
    found = errors("format = 1\n[data]\ntrain_tokens = = 3\nsampler = 'nobody'\n")
    assert [(error.line, error.column) for error in found] == [(3, 16)]


def test_columns_count_characters() -> None:
    (found,) = errors('format = 1\nname = "é日本"  \ndescription = 3\n')
    assert (found.line, found.column) == (3, 15)
    (found,) = errors('format = 1\ndata = { "é" = 1 }\n')
    assert (found.line, found.column) == (2, 10)


def test_windows_line_ends_and_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_bytes(b"\xef\xbb\xbfformat = 1\r\n[cluster]\r\nnodes = 0\r\n")
    with pytest.raises(Unusable) as caught:
        open_plan(path)
    (found,) = caught.value.errors
    assert (found.file, found.line, found.column) == (str(path), 3, 9)


def test_file_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text("format = 1\n", encoding="utf-8")
    with pytest.raises(Unusable) as caught:
        open_plan(tmp_path / "plans.toml")
    (found,) = caught.value.errors
    assert found.message == "the file does not exist"
    assert found.fix == "Nearest in its folder: plan.toml"


def test_what_relates_two_fields_opens() -> None:
    """Divisibility, sums and meshes are findings; the plan opens and can be edited."""
    text = (
        "format = 1\n[model]\nhidden_size = 65\nnum_attention_heads = 4\n[cluster]\nnodes = 1\n[parallelism]\ntensor = 7\n"
        '[[data.sources]]\nname = "a"\nweight = 0.7\n[utilization]\nvalue = 0.5\nlow = 0.6\nhigh = 0.4\n'
    )
    assert plan_of_text(text, "plan.toml").parallelism.tensor == 7


def test_only_the_format_is_required() -> None:
    plan = plan_of_text("format = 1\n", "plan.toml")
    assert plan.data.train_tokens is None
    assert plan.data.max_passes == 4
