"""DeepSpeed configurations, alone and beside what runs with them. Names: DeepSpeed edaa722, docs/_pages/config-json.md."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from trainplan.interop.launchers.reading import Made
from trainplan.plan.plan import Plan

BLOOM = """{
  "train_micro_batch_size_per_gpu": 1,
  "train_batch_size": 2048,
  "gradient_clipping": 1.0,
  "zero_optimization": {"stage": 1},
  "fp16": {"enabled": true, "loss_scale": 0, "initial_scale_power": 12},
  "steps_per_print": 2000,
  "wall_clock_breakdown": false
}
"""
"""bigscience-workshop/bigscience train/tr1-13B-base: the form of its ds_config."""

CONFIG = """{
  "model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008, "num_attention_heads": 32,
  "num_hidden_layers": 32, "num_key_value_heads": 32, "vocab_size": 32000, "max_position_embeddings": 4096
}
"""
"""The shape of Llama 2 7B, from its config.json."""


def field(plan: Plan, path: str) -> Any:
    found: Any = plan
    for part in path.split("."):
        found = getattr(found, part)
    return found


@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        (BLOOM, "training.framework", "deepspeed"),
        (BLOOM, "training.precision", "fp16-mixed"),
        (BLOOM, "parallelism.sharding", "zero-1"),
        (BLOOM, "batch.global_batch_sequences", 2048),
        ('{"zero_optimization": {"stage": 3}, "bf16": {"enabled": true}}', "parallelism.sharding", "zero-3"),
        ('{"zero_optimization": true}', "parallelism.sharding", "zero-1"),
        ('{"zero_optimization": {}, "train_batch_size": 8}', "parallelism.sharding", "none"),
        ('{"zero_optimization": {"stage": 0}, "bf16": {"enabled": true}}', "parallelism.sharding", "none"),
        (
            '{"zero_optimization": {"stage": 0}, "bf16": {"enabled": true}, "data_types": {"grad_accum_dtype": "fp32"}}',
            "parallelism.sharding",
            "zero-1",
        ),
        (
            '{"zero_optimization": {"stage": 2, "offload_optimizer": {"device": "cpu", "pin_memory": true}}}',
            "training.optimizer_offload",
            True,
        ),
        ('{"zero_optimization": {"stage": 2, "reduce_bucket_size": 5e8}}', "parallelism.bucket_elements", 500_000_000),
        (
            '{"zero_optimization": {"stage": 0}, "bf16": {"enabled": true, "bf16_master_weights_and_grads": true}}',
            "training.precision",
            "bf16-pure",
        ),
        ('{"zero_optimization": {"stage": 1}, "optimizer": {"type": "Lion"}}', "training.optimizer", "lion"),
    ],
)
def test_what_a_configuration_says(plan: Callable[..., Plan], text: str, path: str, value: Any) -> None:
    assert field(plan(text), path) == value


def test_the_world_follows_from_three_numbers(plan: Callable[..., Plan], made: Callable[..., Made]) -> None:
    """train_batch_size = micro x accumulation x world."""
    text = '{"train_batch_size": 512, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 2}'
    launcher = "deepspeed --num_nodes 8 train.py --deepspeed ds.json --bf16\n"
    assert plan(text, launcher).cluster.accelerators_per_node == 8
    assert plan(text, launcher).cluster.nodes == 8
    assert made(text, launcher).unknown == ("--deepspeed of line 1", "--bf16 of line 1")


def test_the_batch_follows_from_the_world(plan: Callable[..., Plan]) -> None:
    text = '{"train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 2, "zero_optimization": {"stage": 3}}'
    launcher = "deepspeed --num_nodes 8 --num_gpus 8 train.py --deepspeed ds.json\n"
    assert plan(text, launcher).batch.global_batch_sequences == 512


def test_auto_is_left_out_and_said(made: Callable[..., Made]) -> None:
    text = '{"train_batch_size": "auto",\n "zero_optimization": {"stage": 3},\n "bf16": {"enabled": "auto"}}'
    found = made(text)
    assert found.notes == (
        "a.txt:1:22: train_batch_size is auto, which the program fills in; left out",
        "a.txt:3:22: bf16.enabled is auto, which the program fills in; left out",
    )
    assert "global_batch_sequences" not in found.text
    assert "precision" not in found.text


def test_every_key_is_used_or_listed(made: Callable[..., Made]) -> None:
    text = '{"zero_optimization": {"stage": 1, "overlap_comm": true}, "steps_per_print": 5,\n "mine": {"x": 1}}'
    found = made(text)
    assert found.silent == ("steps_per_print",)
    assert found.fieldless == ("zero_optimization.overlap_comm (a plan says a share, parallelism.overlap_data)",)
    assert found.unknown == ("mine.x of line 2",)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"train_batch_size": -4}', "a.txt:1:22: train_batch_size = -4. A whole number from 1 is right"),
        ('{"train_batch_size": 1.5}', "a.txt:1:22: train_batch_size = 1.5. A whole number from 1 is right"),
        ('{"train_batch_size": true}', "a.txt:1:22: train_batch_size = true. A whole number from 1 is right"),
        (
            '{"zero_optimization": {"stage": 4}}',
            "a.txt:1:33: zero_optimization.stage = 4. A stage from 0 to 3 is right",
        ),
        (
            '{"train_batch_size": 8,\n "train_batch_size": 9}',
            "a.txt:2:2: 'train_batch_size' stands twice in one object. One of them is right. A DeepSpeed configuration",
        ),
        ('{"zero_optimization": {"stage": 1},}', "a.txt:1:35: not JSON: a comma before }. A DeepSpeed configuration"),
        ('{"zero_optimization": {"stage": 1}', "a.txt:1:35: not JSON: , or } is right here. A DeepSpeed configuration"),
        (
            '{"zero_optimization": ' + "[" * 5000,
            "a.txt:1:63: not JSON: nested more than 40 deep. A DeepSpeed configuration",
        ),
        (
            '{"zero_optimization": {"stage": 1}, "bf16": {"enabled": true}, "fp16": {"enabled": true}}',
            "a.txt:1:84: bf16 and fp16 are enabled together. One of them is right",
        ),
        (
            '{"train_batch_size": 9, "train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 2}',
            "a.txt:1:22: train_batch_size = 9: 2 x 2 sequences do not divide it "
            "(gradient_accumulation_steps = 2 at a.txt:1:93). One of them is right",
        ),
    ],
)
def test_what_is_wrong_is_refused_where_it_stands(refused: Callable[..., list[str]], text: str, why: str) -> None:
    assert refused(text) == [why]


def test_a_model_and_a_configuration_make_one_plan(plan: Callable[..., Plan], made: Callable[..., Made]) -> None:
    whole = plan(CONFIG, BLOOM)
    assert (whole.model.hidden_size, whole.model.preset, whole.parallelism.sharding) == (4096, None, "zero-1")
    assert "hidden_size = 4096                      # a.txt:2: hidden_size of a.txt" in made(CONFIG, BLOOM).text


def test_files_that_differ_are_refused_with_both_places(refused: Callable[..., list[str]]) -> None:
    options = "torchrun pretrain_gpt.py --num-layers 24 --hidden-size 1024 --num-attention-heads 16 \\\n --micro-batch-size 2\n"
    assert refused(options, BLOOM)[0] == (
        "b.txt:2:37: batch.micro_batch_sequences is 1 by train_micro_batch_size_per_gpu = 1, and 2 by --micro-batch-size 2 "
        "at a.txt:2:2. Both have to say the same"
    )
    told = refused(CONFIG, options)
    assert told[0].startswith("b.txt:1:26: model.num_hidden_layers is 24 by --num-layers 24, and 32 by ")
    assert any("model.gated_mlp is false by no --swiglu, and true by" in line for line in told)


def test_arguments_of_a_trainer_beside_it_are_refused_by_their_name(refused: Callable[..., list[str]]) -> None:
    (told,) = refused(BLOOM, '{"per_device_train_batch_size": 1, "num_train_epochs": 3}')
    assert told.startswith(
        "b.txt:1:1: recognised as arguments of the Transformers Trainer, in a form that import does not"
    )


LLAMA = """srun --ntasks-per-node 8 -N 4 python pretrain_gpt.py --num-layers 32 --hidden-size 4096 --ffn-hidden-size 11008 \\
  --num-attention-heads 32 --swiglu --normalization RMSNorm --use-rotary-position-embeddings --disable-bias-linear \\
  --untie-embeddings-and-output-weights --max-position-embeddings 4096 --seq-length 4096 --pad-vocab-size-to 32256 \\
  --micro-batch-size 1 --global-batch-size 2048 --train-iters 10 --fp16 --deepspeed
"""


def test_files_that_agree_make_one_plan(plan: Callable[..., Plan]) -> None:
    """A config.json, the arguments of the same model and a DeepSpeed configuration; a padded vocabulary is no other one."""
    whole = plan(CONFIG, LLAMA, BLOOM)
    assert (whole.model.vocab_size, whole.model.num_hidden_layers) == (32000, 32)
    assert (whole.cluster.nodes, whole.cluster.accelerators_per_node) == (4, 8)
    assert whole.data.train_tokens == 10 * 2048 * 4096
    assert whole.parallelism.sharding == "zero-1"
    assert plan(LLAMA).model.vocab_size == 32256


def test_a_run_without_its_configuration_says_that_a_default_stands_for_the_stage(made: Callable[..., Made]) -> None:
    """microsoft/Megatron-DeepSpeed's MoE example makes its JSON with sed: stage 0 there, and zero-1 was taken in silence."""
    shape = "--num-layers 4 --hidden-size 64 --num-attention-heads 8"
    script = f"torchrun pretrain_gpt.py {shape} --deepspeed --deepspeed_config no.json\n"
    told = "no file says the stage of ZeRO; parallelism.sharding is left out, which means zero-1"
    assert [note for note in made(script).notes if told in note]
    staged = made(script.replace("no.json", "no.json --zero-stage 1"))
    assert [note for note in staged.notes if "Import it as one file more" in note]
    assert not [
        note for note in made(script, '{"zero_optimization": {"stage": 0}}').notes if "as one file more" in note
    ]
    assert not [
        note
        for note in made(script, '{"zero_optimization": {"stage": 0}, "bf16": {"enabled": true}}').notes
        if told in note
    ]
