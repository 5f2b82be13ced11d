"""Arguments of Megatron as a plan: real runs, every option with its default, and what is wrong or cannot be said.

Real option lists are facts of public files, named where they stand; defaults were read in NVIDIA/Megatron-LM d98e8a6,
training/arguments.py, and the two Megatron-DeepSpeed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from trainplan.estimation import Estimate, estimate
from trainplan.interop.launchers.reading import Made
from trainplan.plan.plan import Plan
from trainplan.plan.read import plan_of_text
from trainplan.quantity.figure import Figure

SHAPE = "--num-layers 4 --hidden-size 64 --num-attention-heads 8"

BLOOM = """#SBATCH --nodes=48
#SBATCH --gres=gpu:8
#SBATCH --time 100:00:00
ARGS=" \\
    --pp-partition-method 'type:transformer|embedding' \\
    --tensor-model-parallel-size 4 --pipeline-model-parallel-size 12 \\
    --num-layers 70 --hidden-size 14336 --num-attention-heads 112 --seq-length 2048 --max-position-embeddings 2048 \\
    --micro-batch-size 2 --rampup-batch-size 192 16 9_765_625 --global-batch-size 2048 --train-samples 220_000_000 \\
    --embed-layernorm --sync-tp-duplicated-parameters --bf16 --position-embedding-type alibi \\
    --checkpoint-activations --pad-vocab-size-to 250880 --optimizer adam --lr 6e-5 --seed 42 --save-interval 100 \\
    --deepspeed --deepspeed_config ./ds_config.json --zero-stage 0 --deepspeed-activation-checkpointing \\
    "
cat <<EOT > ds_config.json
{
  "train_micro_batch_size_per_gpu": 2,
  "train_batch_size": 2048,
  "gradient_clipping": 1.0,
  "zero_optimization": { "stage": 0 },
  "bf16": { "enabled": true }
}
EOT
srun bash -c "python -m torch.distributed.run --nproc_per_node 8 --nnodes $SLURM_NNODES `pwd`/pretrain_gpt.py $ARGS"
"""
"""bigscience-workshop/bigscience train/tr11-176B-ml/tr11-176B-ml.slurm at 003b250, whose run is published with 48 nodes."""

MIXTRAL = """torchrun --nproc_per_node 8 --nnodes 4 pretrain_gpt.py \\
  --disable-bias-linear --seq-length 4096 --max-position-embeddings 32768 --num-layers 32 --hidden-size 4096 \\
  --ffn-hidden-size 14336 --num-attention-heads 32 --attention-dropout 0.0 --hidden-dropout 0.0 --normalization RMSNorm \\
  --position-embedding-type rope --swiglu --untie-embeddings-and-output-weights --group-query-attention \\
  --num-query-groups 8 --no-position-embedding --num-experts 8 --moe-router-topk 2 --vocab-size 32000 \\
  --micro-batch-size 1 --global-batch-size 256 --train-iters 500000 --bf16 --tensor-model-parallel-size 1 \\
  --pipeline-model-parallel-size 4 --expert-model-parallel-size 8 --use-distributed-optimizer --sequence-parallel
"""
"""NVIDIA/Megatron-LM d98e8a6, examples/mixtral/train_mixtral_8x7b_distributed.sh, with Mixtral's vocabulary and four nodes."""

DEEPSEEK = """torchrun pretrain_gpt.py --num-layers 61 --hidden-size 7168 --ffn-hidden-size 18432 --num-attention-heads 128 \\
  --disable-bias-linear --untie-embeddings-and-output-weights --normalization RMSNorm --position-embedding-type rope --swiglu \\
  --multi-latent-attention --kv-lora-rank 512 --v-head-dim 128 --q-lora-rank 1536 --qk-head-dim 128 --qk-layernorm \\
  --qk-pos-emb-head-dim 64 --num-experts 256 --moe-layer-freq [0]*3+[1]*58 --moe-ffn-hidden-size 2048 --moe-router-topk 8 \\
  --moe-shared-expert-intermediate-size 2048 --max-position-embeddings 163840 --vocab-size 129280 --bf16
"""
"""NVIDIA/Megatron-LM d98e8a6, examples/post_training/modelopt/conf/deepseek-ai/DeepSeek-R1.sh, with its vocabulary."""

GPT_OSS = """--num-layers 12 --hidden-size 512 --ffn-hidden-size 2048 --num-attention-heads 64 --group-query-attention
--num-query-groups 8 --window-size 127,0 --window-attn-skip-freq 2 --softmax-type learnable --add-qkv-bias
"""
"""NVIDIA/Megatron-LM d98e8a6, examples/gptoss/02_train.sh: a window of 128 keys on every layer but each second."""


def estimated(made: Made) -> Estimate:
    return estimate(plan_of_text(made.text, "plan.toml"))


def number(found: Estimate, key: str) -> float:
    value = found.quantities[key]
    assert isinstance(value, Figure), key
    return float(value)


def test_bloom_is_what_its_authors_publish(made: Callable[..., Made], plan: Callable[..., Plan]) -> None:
    """176,247,271,424 parameters on 384 devices, data parallel 8, 5 layers on both ends: train/tr11-176B-ml/README.md."""
    found, whole = made(BLOOM), plan(BLOOM)
    told = estimated(found)
    assert number(told, "model.parameters") == 176_247_271_424
    assert number(told, "parallelism.world_size") == 384
    assert number(told, "parallelism.data") == 8
    p = whole.parallelism
    assert (p.first_stage_layers, p.last_stage_layers, p.recompute, p.sequence_parallel) == (5, 5, "full", False)
    assert (p.sharding, whole.training.precision, whole.training.framework) == ("zero-1", "bf16-mixed", "deepspeed")
    assert whole.data.train_tokens == 220_000_000 * 2048
    assert (whole.batch.global_batch_sequences, whole.batch.micro_batch_sequences) == (2048, 2)
    assert [entry.global_batch_sequences for entry in whole.batch.schedule[:2]] == [192, 208]
    assert len(whole.batch.schedule) == 117
    assert whole.reliability.job_time_limit == 100 * 3600
    assert found.unknown == ()
    assert found.findings == ()


def test_mixtral_and_deepseek_are_counted_as_published(made: Callable[..., Made]) -> None:
    """46.7B of Mixtral 8x7B; 671,026,404,352 of DeepSeek-V3 without the depth that predicts."""
    assert number(estimated(made(MIXTRAL)), "model.parameters") == 46_702_792_704
    assert number(estimated(made(DEEPSEEK)), "model.parameters") == 671_026_404_352


def test_gpt_oss_has_windows_and_sinks(plan: Callable[..., Plan]) -> None:
    model = plan(GPT_OSS).model
    assert (model.sliding_window, model.attention_sinks, model.num_key_value_heads) == (128, True, 8)
    assert model.layer_types == ("sliding_attention", "full_attention") * 6


def listing(**facts: Any) -> str:
    """Arguments as `_print_args` prints them."""
    lines = [f"  {name} {'.' * (48 - len(name))} {value}" for name, value in facts.items()]
    return "\n".join(["-" * 24 + " arguments " + "-" * 24, *lines, "-" * 20 + " end of arguments " + "-" * 21, ""])


LOG = {
    "accumulate_allreduce_grads_in_fp32": False,
    "attention_dropout": 0.1,
    "checkpoint_activations": True,
    "data_parallel_size": 1,
    "encoder_seq_length": 2048,
    "ffn_hidden_size": 20480,
    "fp16": True,
    "bf16": False,
    "global_batch_size": 1024,
    "hidden_dropout": 0.1,
    "hidden_size": 5120,
    "kv_channels": 128,
    "max_position_embeddings": 2048,
    "micro_batch_size": 1,
    "num_attention_heads": 40,
    "num_layers": 40,
    "num_layers_per_virtual_pipeline_stage": None,
    "optimizer": "adam",
    "params_dtype": "torch.float16",
    "pipeline_model_parallel_size": 4,
    "rampup_batch_size": None,
    "seq_length": 2048,
    "tensor_model_parallel_size": 2,
    "train_iters": 1000,
    "train_samples": None,
    "vocab_extra_ids": 0,
    "world_size": 8,
}
"""A public log of Megatron-LM of September 2021, 40 layers on 8 devices; its ranks print their parameters."""


def test_a_log_says_its_arguments(made: Callable[..., Made], plan: Callable[..., Plan]) -> None:
    """Rank (0, 1) of it has 1,573,350,400 parameters, rank (0, 0) 1,712,942,080: ten layers, with half the padded table."""
    text = "".join(f"[default0]: {line}\n" for line in listing(**LOG).splitlines())
    text += " > padded vocab (size: 50257) with 175 dummy tokens (new size: 50432)\n"
    found, whole = made(text), plan(text)
    layer = 12 * 5120**2 + 13 * 5120
    assert (1_712_942_080 - 1_573_350_400) * 2 == 50432 * 5120 + 2 * 2048 * 5120
    assert number(estimated(found), "model.parameters") == 40 * layer + (50257 + 2048) * 5120 + 2 * 5120
    assert (whole.parallelism.tensor, whole.parallelism.pipeline, whole.parallelism.recompute) == (2, 4, "full")
    assert whole.data.train_tokens == 1000 * 1024 * 2048
    assert whole.training.precision == "fp16-mixed"
    assert found.unknown == ()
    assert "8 accelerators in all; on how many nodes is not said" in found.notes[-1]


def test_the_last_listing_of_a_log_holds(made: Callable[..., Made]) -> None:
    found = made(listing(**LOG) + listing(**{**LOG, "num_layers": 48}))
    assert "num_hidden_layers = 48" in found.text
    assert "the log has 2 listings of arguments; the last one holds" in found.notes[0]


@pytest.mark.parametrize(
    ("options", "path", "value"),
    [
        (SHAPE, "model.intermediate_size", 256),
        (f"{SHAPE} --swiglu", "model.intermediate_size", 128),
        ("--num-layers 4 --hidden-size 4096 --num-attention-heads 32 --swiglu", "model.intermediate_size", 10880),
        (f"{SHAPE} --swiglu --ffn-hidden-size 100", "model.intermediate_size", 100),
        (SHAPE, "model.gated_mlp", False),
        (f"{SHAPE} --swiglu", "model.gated_mlp", None),
        (f"{SHAPE} --quick-geglu", "model.intermediate_size", 256),
        (SHAPE, "model.norm", "layernorm"),
        (f"{SHAPE} --normalization RMSNorm", "model.norm", None),
        (SHAPE, "model.position_embedding", "learned"),
        (f"{SHAPE} --position-embedding-type rope", "model.position_embedding", None),
        (f"{SHAPE} --use-rotary-position-embeddings --no-position-embedding", "model.position_embedding", None),
        (f"{SHAPE} --position-embedding-type none", "model.position_embedding", "none"),
        (SHAPE, "model.tie_word_embeddings", True),
        (f"{SHAPE} --untie-embeddings-and-output-weights", "model.tie_word_embeddings", False),
        (SHAPE, "model.attention_output_bias", True),
        (f"{SHAPE} --disable-bias-linear", "model.mlp_bias", None),
        (f"{SHAPE} --disable-bias-linear --add-qkv-bias", "model.attention_bias", True),
        (f"{SHAPE} --qk-layernorm --normalization RMSNorm", "model.qk_norm", True),
        (f"{SHAPE} --qk-layernorm", "model.qk_norm_bias", True),
        (f"{SHAPE} --group-query-attention", "model.num_key_value_heads", 1),
        (f"{SHAPE} --num-query-groups 2", "model.num_key_value_heads", None),
        (f"{SHAPE} --kv-channels 16", "model.head_dim", 16),
        (f"{SHAPE} --kv-channels 8", "model.head_dim", None),
        (f"{SHAPE} --mtp-num-layers 1", "model.mtp.num_nextn_predict_layers", 1),
        (f"{SHAPE} --multi-latent-attention", "model.mla.kv_lora_rank", 32),
        (f"{SHAPE} --num-experts 8", "model.moe.num_experts_per_tok", 2),
        (f"{SHAPE} --num-experts 8", "model.moe.moe_intermediate_size", 256),
        (f"{SHAPE} --num-experts 8 --moe-layer-freq 2", "model.moe.moe_layer_freq", 2),
        (f"{SHAPE} --num-experts 8 --moe-layer-freq '([0]*1+[1]*3)'", "model.moe.first_k_dense_replace", 1),
        (
            f"{SHAPE} --num-experts 8 --moe-layer-freq [1,1,0,1]",
            "model.mlp_layer_types",
            ("sparse", "sparse", "dense", "sparse"),
        ),
        (f"{SHAPE} --deepspeed --num-experts 8", "model.mlp_layer_types", ("dense", "sparse") * 2),
        (f"{SHAPE} --deepspeed --num-experts 8", "model.moe.num_experts_per_tok", 1),
        (f"{SHAPE} --num-experts 8 --tensor-model-parallel-size 2", "parallelism.expert_tensor", 2),
        (SHAPE, "training.precision", "fp32"),
        (f"{SHAPE} --bf16", "training.precision", "bf16-mixed"),
        (f"{SHAPE} --bf16 --fp8-format hybrid", "training.precision", "fp8-mixed"),
        (f"{SHAPE} --bf16 --grad-reduce-in-bf16", "training.gradient_dtype", "bf16"),
        (
            f"{SHAPE} --bf16 --use-precision-aware-optimizer --exp-avg-dtype bf16 --exp-avg-sq-dtype bf16",
            "training.moment_dtype",
            "bf16",
        ),
        (SHAPE, "training.dropout", 0.1),
        (f"{SHAPE} --attention-dropout 0 --hidden-dropout 0", "training.dropout", 0),
        (SHAPE, "training.loss", "plain"),
        (f"{SHAPE} --cross-entropy-loss-fusion --cross-entropy-fusion-impl te", "training.loss", "fused-in-place"),
        (f"{SHAPE} --attention-backend unfused", "training.attention", "eager"),
        (f"{SHAPE} --deepspeed", "training.attention", "eager"),
        (f"{SHAPE} --transformer-impl local", "training.kernels", "torch-eager"),
        (f"{SHAPE} --optimizer muon", "training.optimizer", "muon"),
        (SHAPE, "parallelism.sharding", "none"),
        (f"{SHAPE} --use-distributed-optimizer", "parallelism.sharding", "zero-1"),
        (f"{SHAPE} --use-megatron-fsdp", "parallelism.sharding", "zero-3"),
        (
            f"{SHAPE} --use-megatron-fsdp --data-parallel-sharding-strategy optim_grads",
            "parallelism.sharding",
            "zero-2",
        ),
        (f"{SHAPE} --tensor-model-parallel-size 2", "parallelism.sequence_parallel", False),
        (f"{SHAPE} --context-parallel-size 2 --cp-comm-type a2a", "parallelism.context_type", "all-to-all"),
        (f"{SHAPE} --deepspeed --ds-sequence-parallel-size 4", "parallelism.context", 4),
        (
            f"{SHAPE} --pipeline-model-parallel-size 2 --num-layers-per-virtual-pipeline-stage 1",
            "parallelism.virtual_pipeline",
            2,
        ),
        (
            f"{SHAPE} --pipeline-model-parallel-size 2 --num-virtual-stages-per-pipeline-rank 2",
            "parallelism.schedule",
            "interleaved",
        ),
        (f"{SHAPE} --recompute-activations", "parallelism.recompute", "selective"),
        (f"{SHAPE} --activations-checkpoint-method uniform", "parallelism.recompute", "full"),
        (f"{SHAPE} --seq-length 32 --global-batch-size 8 --train-iters 10", "data.train_tokens", 2560),
        (f"{SHAPE} --seq-length 32 --train-samples 10", "data.train_tokens", 320),
        (f"{SHAPE} --data-path 30 /a/web_text_document 10 b --seq-length 8", "data.sampler", "megatron-blended"),
        (SHAPE, "storage.async_checkpoint", False),
        (f"{SHAPE} --save ckpt", "paths.checkpoints", "ckpt"),
    ],
)
def test_every_option_and_what_its_absence_means(said: Callable[..., Any], options: str, path: str, value: Any) -> None:
    assert said(options, path) == value


def test_sources_have_their_weights_normalised(said: Callable[..., Any]) -> None:
    sources = said(f"{SHAPE} --data-path 30 /a/web_text_document 10 b", "data.sources")
    assert [(one.name, one.weight) for one in sources] == [("web_text_document", 0.75), ("b", 0.25)]


def test_steps_count_the_batches_of_a_schedule(said: Callable[..., Any]) -> None:
    """Steps begin with the batch of the tokens before them: two of 2, then eight of 4 sequences."""
    options = f'{SHAPE} --seq-length 10 --step-batch-size-schedule "0:2 40:4" --train-iters 10'
    assert said(options, "data.train_tokens") == 2 * 20 + 8 * 40


def test_a_ramp_grows_by_its_increments(said: Callable[..., Any]) -> None:
    """16 to 1,024 in steps of 8 over 300,000 samples is 126 increments: the help of --rampup-batch-size."""
    schedule = said(
        f"{SHAPE} --seq-length 2 --global-batch-size 1024 --rampup-batch-size 16 8 300000", "batch.schedule"
    )
    assert len(schedule) == 127
    assert (schedule[1].from_tokens, schedule[1].global_batch_sequences) == (2381 * 2, 24)
    assert (schedule[-1].from_tokens, schedule[-1].global_batch_sequences) == (600_000, 1024)


def test_groups_of_hsdp_follow_from_the_world(plan: Callable[..., Plan]) -> None:
    options = "--use-megatron-fsdp --num-distributed-optimizer-instances 4 --context-parallel-size 2 --seq-length 64"
    text = f"torchrun --nnodes 8 --nproc_per_node 8 pretrain_gpt.py {SHAPE} {options}\n"
    found = plan(text).parallelism
    assert (found.sharding, found.shard_size) == ("hsdp", 16)


def test_the_last_of_several_holds_and_is_said(made: Callable[..., Made]) -> None:
    found = made(f"torchrun pretrain_gpt.py {SHAPE} --num-layers 8\n")
    assert "num_hidden_layers = 8" in found.text
    assert found.notes[0] == "a.txt:1:82: --num-layers 8 comes after --num-layers 4 of line 1; the last one holds"


def test_two_files_of_options_that_differ_are_refused(
    refused: Callable[..., list[str]], made: Callable[..., Made]
) -> None:
    one, two = f"{SHAPE}\n", "--num-layers 8 --hidden-size 64 --bf16\n"
    assert refused(one, two) == [
        "b.txt:1:1: --num-layers 8, and --num-layers 4 at a.txt:1:1. Both have to say the same"
    ]
    assert "num_hidden_layers = 4 " in made(one, two.replace("8", "4")).text


def test_a_value_that_is_not_known_takes_no_default(made: Callable[..., Made]) -> None:
    found = made(
        f"torchrun pretrain_gpt.py {SHAPE} --ffn-hidden-size $F --normalization $N --hidden-dropout $D $MORE\n"
    )
    for field in ("intermediate_size", "norm =", "dropout"):
        assert field not in found.text
    assert "a.txt:1:100: --ffn-hidden-size: $F is not set in the file; left out" in found.notes
    assert any(note.endswith("$MORE is not set in the file: what it passes is not read") for note in found.notes)


def test_every_option_is_used_or_listed(made: Callable[..., Made]) -> None:
    found = made(f"torchrun pretrain_gpt.py {SHAPE} --seed 1 --overlap-grad-reduce --my-own 3 --log-interval 5\n")
    assert found.silent == ("--seed", "--log-interval")
    assert found.fieldless == ("--overlap-grad-reduce (a plan says a share, parallelism.overlap_data)",)
    assert found.unknown == ("--my-own of line 1",)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("--num-layers 4.5", "a.txt:1:39: --num-layers is '4.5'. A whole number from 1 is right"),
        ("--num-layers 0", "a.txt:1:39: --num-layers is '0'. A whole number from 1 is right"),
        ("--num-layers", "a.txt:1:26: --num-layers has no value. --num-layers VALUE is right"),
        ("--num-layers 4 --swiglu yes", "a.txt:1:50: 'yes' stands behind --swiglu, which does not take it"),
        ("--num-layers 4 --normalization Rms", "a.txt:1:57: --normalization is 'Rms'. One of LayerNorm, RMSNorm"),
        ("--num-layers 4 --bf16 --fp16", "a.txt:1:48: --bf16 and --fp16 stand together. One of them is right"),
        ("--num-layers 4 —bf16", "a.txt:1:41: —bf16 begins with U+2014, which is no hyphen. --bf16 is right"),
        ("—num-layers 4", "a.txt:1:26: —num-layers begins with U+2014, which is no hyphen. --num-layers is right"),
        (
            "--num-layers 4 --hidden-size 100 --num-attention-heads 8",
            "a.txt:1:59: --hidden-size 100 is no multiple of --num-attention-heads 8. Heads that divide it",
        ),
        (
            f"{SHAPE} --group-query-attention --num-query-groups 3",
            "a.txt:1:106: --num-attention-heads 8 is no multiple of --num-query-groups 3",
        ),
        (f"{SHAPE} --num-experts 4 --moe-router-topk 5", "a.txt:1:98: --moe-router-topk 5 is more than the 4 experts"),
        (
            f"{SHAPE} --num-experts 4 --moe-layer-freq [1]*3",
            "a.txt:1:98: --moe-layer-freq lists 3 layers, --num-layers is 4",
        ),
        (
            f"{SHAPE} --position-embedding-type relative",
            "a.txt:1:82: --position-embedding-type relative is an attention bias",
        ),
        (
            f"{SHAPE} --hybrid-layer-pattern M*-",
            "a.txt:1:82: --hybrid-layer-pattern M*-: layers that are not attention",
        ),
        (
            f"{SHAPE} --seq-length 64 --max-position-embeddings 32",
            "a.txt:1:98: --max-position-embeddings is 32, a sequence is 64 tokens",
        ),
        (
            f"{SHAPE} --seq-length 64 --global-batch-size 10 --rampup-batch-size 4 4 100",
            "a.txt:1:121: --rampup-batch-size 4 4 100: steps of 4 do not lead from 4 to the 10",
        ),
    ],
)
def test_what_is_wrong_is_refused_where_it_stands(refused: Callable[..., list[str]], options: str, why: str) -> None:
    (told,) = refused(f"torchrun pretrain_gpt.py {options}\n")
    assert told.startswith(why)


def test_another_model_is_refused_by_its_program(refused: Callable[..., list[str]]) -> None:
    assert refused(f"torchrun pretrain_t5.py {SHAPE}\n") == [
        "a.txt:1:25: pretrain_t5.py trains an encoder beside a decoder. A plan is of a decoder of text"
    ]


def test_what_does_not_fit_together_is_said_where_it_stands(made: Callable[..., Made]) -> None:
    """NVIDIA/Megatron-LM d98e8a6, examples/gpt3/train_gpt3_175b_distributed.sh: 128 ranks of a model on one node."""
    text = f"torchrun --nnodes 1 --nproc_per_node 8 pretrain_gpt.py {SHAPE} --tensor-model-parallel-size 8 \\\n"
    found = made(f"{text} --pipeline-model-parallel-size 16\n")
    assert found.findings[0].startswith("a.txt:2:2: G1: 8 accelerators do not divide into groups of 128")


SIZES = {
    "1.7B": (1, 1, 24, 2304, 24, 0, 1.7),
    "3.6B": (2, 1, 30, 3072, 32, 0, 3.6),
    "7.5B": (4, 1, 36, 4096, 32, 0, 7.5),
    "18B": (8, 1, 40, 6144, 48, 0, 18.4),
    "39B": (8, 2, 48, 8192, 64, 0, 39.1),
    "76B": (8, 4, 60, 10240, 80, 5, 76.1),
    "145B": (8, 8, 80, 12288, 96, 5, 145.6),
    "310B": (8, 16, 96, 16384, 128, 3, 310.1),
    "530B": (8, 35, 105, 20480, 128, 1, 529.6),
    "1T": (8, 64, 128, 25600, 160, 0, 1008.0),
}
"""Tensor, pipeline, layers, width, heads, layers of a virtual stage, and billions of parameters as published.

microsoft/Megatron-DeepSpeed f4157be, examples/sc21/{run_table_1,CONFIG,SRUN}.sh; table 1 of arXiv 2104.04473, with 51,200 entries.
"""


@pytest.mark.parametrize("size", SIZES)
def test_one_script_of_many_sizes_in_three_files(
    made: Callable[..., Made], plan: Callable[..., Plan], size: str
) -> None:
    """The file chooses its case by a value of its own, and hands it through files that it reads."""
    chain, word = "", "if"
    for name, (tensor, pipeline, layers, hidden, heads, virtual, _) in SIZES.items():
        more = f" --num-layers-per-virtual-pipeline-stage {virtual}" if virtual else ""
        chain += (
            f'{word} [ ${{MODEL_SIZE}} == "{name}" ]; then\n TP={tensor}\n PP={pipeline}\n NLS={layers}\n HS={hidden}\n'
        )
        chain += f' NAH={heads}\n EXTRA="--activations-checkpoint-method uniform{more} "\n'
        word = "elif"
    chosen = f"MODEL_SIZE={size}\n{chain}else\n exit 1\nfi\n. `pwd`/config.sh\n"
    config = 'export PARAMS=" ${EXTRA} --tensor-model-parallel-size ${TP} --pipeline-model-parallel-size ${PP} \\\n'
    config += "  --num-layers ${NLS} --hidden-size ${HS} --num-attention-heads ${NAH} --seq-length 2048 --fp16 \\\n"
    config += '  --max-position-embeddings 2048 --vocab-size 51200 "\n'
    launcher = 'CMD="python -u ${DIR}/pretrain_gpt.py ${PARAMS}"\nsrun -l --container-image "x" sh -c "${CMD}"\n'
    tensor, pipeline, layers, _, _, virtual, billions = SIZES[size]
    files = (f"#!/bin/bash\n{chosen}", config, launcher)
    assert round(number(estimated(made(*files)), "model.parameters") / 1e9, 1) == billions
    p = plan(*files).parallelism
    assert (p.tensor, p.pipeline, p.recompute) == (tensor, pipeline, "full")
    assert p.virtual_pipeline == (layers // pipeline // virtual if virtual else 1)


def test_experts_that_differ_between_layers_are_refused(refused: Callable[..., list[str]]) -> None:
    """microsoft/Megatron-DeepSpeed f4157be, examples_deepspeed/MoE: PR-MoE has 64 experts, and 128 in the last layers."""
    (told,) = refused(f"deepspeed pretrain_gpt.py {SHAPE} --deepspeed --num-experts 64 128\n")
    assert told == ("a.txt:1:95: --num-experts 64 128: layers have experts of their own number. A plan has one for all")


def test_a_stage_of_the_embedding_alone_is_left_out(made: Callable[..., Made]) -> None:
    """bigscience-workshop/bigscience train/tr13-mtf: 70 layers and both embeddings over 72 stages."""
    options = "--num-layers 70 --hidden-size 64 --num-attention-heads 8 --pipeline-model-parallel-size 72"
    found = made(f"torchrun pretrain_gpt.py {options} --pp-partition-method 'type:transformer|embedding'\n")
    assert "first_stage_layers" not in found.text
    assert any(note.endswith("are no two or more on each of 72 stages; left out") for note in found.notes)


def test_a_model_of_images_is_refused(refused: Callable[..., list[str]]) -> None:
    """NVIDIA/Megatron-LM d98e8a6, examples/multimodal/pretrain_mistral_clip.sh."""
    (told,) = refused(f"torchrun examples/multimodal/train.py {SHAPE} --language-model-type mistral_7b\n")
    assert "a model of images beside the text. A plan cannot say it" in told


LINES = """ENV_VARS:
  CUDA_DEVICE_MAX_CONNECTIONS: 1
MODEL_ARGS:
  --num-layers: 12
  --hidden-size: 512  # narrow
  --num-attention-heads: 8
  --vocab-size: '1024'
  --micro-batch-size: 4
  --global-batch-size: 32
  --seq-length: 1024
  --max-position-embeddings: 1024
  --train-iters: 50
  --swiglu: true
  --sequence-parallel: false
  --data-path: ${DATA_PATH}/web
  --bf16: true
  --moe-layer-freq: ([0]*1+[1]*11)
TEST_TYPE: regular
"""
"""The form of tests/functional_tests/test_cases/*/model_config.yaml in NVIDIA/Megatron-LM d98e8a6."""


def test_lines_of_options_are_read_and_no_other_yaml(
    made: Callable[..., Made], plan: Callable[..., Plan], refused: Callable[..., list[str]]
) -> None:
    found, whole = made(LINES), plan(LINES)
    assert (whole.model.hidden_size, whole.model.intermediate_size, whole.model.vocab_size) == (512, 1344, 1024)
    assert (whole.training.precision, whole.data.train_tokens) == ("bf16-mixed", 50 * 32 * 1024)
    assert any("${DATA_PATH} is not set in the file; sources are left out" in note for note in found.notes)
    (told,) = refused(LINES.replace("--bf16: true", "--bf16: { a: 1 }"))
    assert told.startswith("a.txt:16:3: --bf16: { a: 1 }: import reads lines of `--option: value`, no other YAML")


def test_worlds_that_differ_are_refused_with_both_places(refused: Callable[..., list[str]]) -> None:
    (told,) = refused(listing(**LOG), "torchrun --nnodes 2 --nproc_per_node 8 pretrain_gpt.py --my-own 1\n")
    assert told == (
        "a.txt:28:3: world_size 8: 2 nodes of 8 are 16 accelerators (--nnodes 2 at b.txt:1:19). One of them is right"
    )
    (told,) = refused(f"srun -N 4 torchrun --nnodes 2 pretrain_gpt.py {SHAPE}\n")
    assert told == "a.txt:1:29: --nnodes 2, and -N 4 at a.txt:1:9. Both have to say the same"


def test_what_a_terminal_would_act_on_stays_out_of_comments(
    made: Callable[..., Made], plan: Callable[..., Plan]
) -> None:
    text = f"torchrun pretrain_gpt.py {SHAPE} --save 'a\x1b[31m\u202eb'\n"
    assert plan(text).paths.checkpoints == "a\x1b[31m\u202eb"
    assert made(text).text.isascii()
    assert "\x1b" not in made(text).text


def test_kernels_of_experts_and_graphs_are_read_and_smaller_graphs_are_told(
    made: Callable[..., Made], said: Callable[[str, str], Any]
) -> None:
    """NVIDIA/Megatron-LM d98e8a6, docs/user-guide/features/cuda_graph.md; a listing of its arguments says fp8 attention too."""
    experts = f"{SHAPE} --num-experts 4 --use-transformer-engine-op-fuser --cuda-graph-impl full_iteration"
    assert said(experts, "training.expert_kernels") == "fused"
    assert said(experts, "training.cuda_graphs") == "full-iteration"
    assert said(f"{SHAPE} --use-transformer-engine-op-fuser", "training.expert_kernels") == "grouped"
    layers = made(f"torchrun pretrain_gpt.py {SHAPE} --cuda-graph-impl transformer_engine\n")
    assert any("graphs of layers have no field" in note for note in layers.notes)
    assert "cuda_graphs" not in layers.text
    log = listing(**{**LOG, "fp8": "hybrid", "fp8_dot_product_attention": True})
    assert 'attention_precision = "fp8"' in made(log).text


def test_no_option_is_dropped_without_a_word(made: Callable[..., Made]) -> None:
    """Data without weights, a folder of an unknown name, ranks of one and a file that is not there: all are named."""
    more = "--data-path /data/text_document --save /ckpt/$SLURM_JOB_ID --sequence-parallel --deepspeed --deepspeed_config no.json"
    found = made(f"torchrun pretrain_gpt.py {SHAPE} --seq-length 128 --bf16 {more}\n")
    assert {"--data-path", "--save", "--sequence-parallel", "--deepspeed_config"} <= set(found.idle)
    assert not {"--num-layers", "--hidden-size", "--seq-length", "--bf16"} & set(found.idle)


def test_two_files_that_say_one_thing_in_other_letters_agree(
    made: Callable[..., Made], refused: Callable[..., Any]
) -> None:
    """1 is 1.0 and RMSNorm rmsnorm; a learning rate that no plan rests on is told and blocks nothing."""
    first = f"torchrun pretrain_gpt.py {SHAPE} --hidden-dropout 0 --attention-dropout 0 --lr 1e-4 --clip-grad 1\n"
    second = (
        f"torchrun pretrain_gpt.py {SHAPE} --hidden-dropout 0.0 --attention-dropout 0.0 --lr 2e-4 --clip-grad 1.0\n"
    )
    found = made(first, second)
    assert [note for note in found.notes if "no plan rests on it" in note] == [
        note for note in found.notes if "--lr 2e-4" in note
    ]
    assert "dropout = 0" in found.text
    (told,) = refused(first, second.replace("--num-layers 4", "--num-layers 5"))
    assert "--num-layers 5, and --num-layers 4 at a.txt:1:" in told
