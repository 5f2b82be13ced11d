"""A file that import does not read is named by its words, with the fields that they lead to."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainplan.interop.otherfiles import recognised

PLANS = Path(__file__).resolve().parents[3] / "plans"

MEGATRON_YAML = "# model\nnum_layers: 32\nmodel_parallel:\n  tensor_model_parallel_size: 8\nmicro_batch_size: 1\n"
TITAN_PYTHON = "from torchtitan.trainer import Trainer\n\ndef mine() -> Trainer.Config: ...\n"
NEMO = "name: megatron_gpt\ntrainer:\n  num_nodes: 16\nexp_manager:\n  name: x\nmodel:\n  mcore_gpt: True\n"
ACCELERATE = "compute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\nnum_machines: 2\n"
TRAINER = '{"per_device_train_batch_size": 1, "num_train_epochs": 3, "fsdp_config": {}}'


@pytest.mark.parametrize(
    ("text", "name", "leads"),
    [
        (MEGATRON_YAML, "arguments of Megatron-LM", "num_layers is model.num_hidden_layers"),
        (TITAN_PYTHON, "a torchtitan configuration in Python", "trainplan-tui new"),
        (NEMO, "a NeMo configuration", "num_nodes is cluster.nodes"),
        (ACCELERATE, "a configuration of accelerate", "num_machines is cluster.nodes"),
        (
            TRAINER,
            "arguments of the Transformers Trainer",
            "per_device_train_batch_size is batch.micro_batch_sequences",
        ),
        ('{"metadata": {}, "weight_map": {"a": "b"}}', "an index of weights", "config.json"),
    ],
)
def test_a_kind_that_is_not_read_is_named(text: str, name: str, leads: str) -> None:
    told = recognised(text)
    assert told.startswith(f"recognised as {name}, in a form that import does not read")
    assert leads in told


@pytest.mark.parametrize("path", sorted(PLANS.glob("*.toml")), ids=lambda path: path.stem)
def test_a_plan_is_named_too(path: Path) -> None:
    assert recognised(path.read_text(encoding="utf-8")).startswith("recognised as a plan of this program")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nul",
        "{}",
        '{"hidden_size": 1}',
        '{"model_type": "chatglm", "seq_length": 2048}',
        '{"architectures": ["X"], "num_layers": 2, "micro_batch_size": 1}',
        "a line of prose: it has no settings -- none at all\n",
        "\x00\x01" * 1000,
        "{" * 10_000,
        "\n" * 200_000,
        "{ " * 100_000,
    ],
)
def test_what_is_no_other_kind_is_named_by_nothing(text: str) -> None:
    """A config.json, broken or not, is told by its own reader."""
    assert recognised(text) == ""


def test_more_words_than_a_line_holds_are_counted() -> None:
    words = (
        "num_layers",
        "seq_length",
        "micro_batch_size",
        "global_batch_size",
        "num_query_groups",
        "kv_channels",
        "swiglu",
    )
    told = recognised("".join(f"{word}: 1\n" for word in (*words, "untie_embeddings_and_output_weights")))
    assert told.endswith(", and 2 more")
