"""Plans of published throughput rows: what each row says, and the settings that its source must be given.

The rows are the evidence catalogue, with their citations. Settings that a table does not print and that decide a prediction are
stated once for each source, never for a row; rows left out are named with the reason. The defaults are those of the step-time
study, section 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from trainplan.budgets.communication import CommunicationBudget
from trainplan.budgets.compute import Throughput, throughput
from trainplan.budgets.kernels import Conditions, Numbers, conditions, fitted
from trainplan.budgets.model import ModelBudget, model_budget
from trainplan.budgets.pipeline import pipeline_bubble
from trainplan.budgets.situation import Situation
from trainplan.budgets.steptime import StepBudget, step_budget
from trainplan.budgets.tokens import MeshBudget, TokenBudget, mesh_budget, token_budget
from trainplan.catalogue import entry, names
from trainplan.figure import Figure, given
from trainplan.formulas import communication as c
from trainplan.formulas import layer_time as f
from trainplan.plan.read import plan_of_text

Row = dict[str, Any]

EAGER: Final = ("narayanan2021", "megatron2020", "korthikanti2022", "mtnlg", "vtrain", "bloom-prequel")
"""Sources whose Megatron materialises attention, has no overlap and reduces in 16 bits."""

TORCH: Final = {"llm-foundry": "fsdp", "torchtitan-2024-12": "torchtitan", "torchtitan-2024-04": "torchtitan"}
XLA: Final = ("ironwood", "trillium")

FABRIC: Final = {"vtrain": "12.5GB/s", "bloom-prequel": "6.25GB/s", "llm-foundry": "25GB/s"}
"""Fabric of each source, one way and for each accelerator; the others have their part's usual one."""

SHARDING: Final = {"zero1": "zero-1", "zero2": "zero-2", "zero3": "zero-3", "zero3 over dp*cp": "zero-3"}

RECOMPUTED: Final = {"selective_layer": (0.5, 0.5)}
"""Shares that no plan can say: linear layers and attention of every second layer."""

BASELINE: Final = "megascale.megatron."
"""Rows of Megatron-LM as MegaScale measured it: what hides transfers is what that paper adds to it, its table 3."""

NO_SHAPES: Final = "no shapes: a hybrid model or one whose shapes are not published"
NO_BATCH: Final = "no batch or length"


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A row as everything that a step needs but the fitted numbers."""

    row: Row
    source: str
    s: Situation
    model: ModelBudget
    mesh: MeshBudget
    tokens: TokenBudget
    speed: Throughput
    bubble: Figure

    @property
    def sparse(self) -> bool:
        """Whether the model has experts."""
        return self.model.shape.expert_layers is not None


def rows() -> list[tuple[str, Row]]:
    """Every row of the evidence catalogue with the name of its source."""
    return [(name, row) for name in names("evidence") if not name.startswith("failures") for row in _rows(name)]


def _rows(name: str) -> list[Row]:
    found = entry("evidence", name)
    assert found is not None
    return list(found["row"].value)


def left_out(row: Row) -> str | None:
    """Why a row cannot be predicted, or None."""
    if not row.get("seq") or not row.get("gbs"):
        return NO_BATCH
    if "preset" in row or "hidden" in row or row["model"] in SHAPES:
        return None
    return NO_SHAPES


SHAPES: Final[Mapping[str, Row]] = {
    "gpt3-5b": {"hidden": 4096, "layers": 24, "heads": 32, "ffn": 16384, "vocab": 51200},
}
"""Shapes of models that a table only names: NeMo launcher conf/training/gpt3/5b.yaml, from memory."""


def case(source: str, row: Row) -> Case:
    """The row's plan with everything that does not depend on a fitted number."""
    s = Situation(plan_of_text(plan_text(source, row), str(row["id"])))
    model, mesh = model_budget(s), mesh_budget(s)
    tokens = token_budget(s, model.active_parameters, mesh.data)
    speed = throughput(s, model, tokens, mesh)
    return Case(row, source, s, model, mesh, tokens, speed, pipeline_bubble(s, tokens.microbatches))


def predicted(one: Case, numbers: Numbers | None = None) -> tuple[StepBudget, CommunicationBudget]:
    """The step of a row under its source's conditions."""
    known = conditions_of(one, numbers or fitted(one.s.plan.cluster.accelerator))
    return step_budget(one.s, one.model, one.mesh, one.tokens, one.speed, one.bubble, known)


def conditions_of(one: Case, numbers: Numbers) -> Conditions:
    """The plan's conditions, and what the row says that no plan can."""
    known = conditions(one.s, numbers)
    if one.row.get("recompute") in RECOMPUTED:
        linear, core = (given("layers computed again", share, "1", "row") for share in RECOMPUTED[one.row["recompute"]])
        known = replace(known, linear_recomputed=linear, attention_recomputed=core)
    if one.row["precision"] == "nvfp4":
        gain = max(float(numbers["fp8"]), float(numbers["fp4"]) * _fp4_ratio(one.s) / 4.0)
        known = replace(known, speedup=given("gain of fp4 products", gain, "1", "row"))
    if one.source == "bloom-prequel":
        known = replace(known, fabric=c.fabric_rate(one.s["cluster.scale_out_bandwidth"], numbers["site"]))
    if one.source == "llm-foundry" and one.row["accelerator"] == "h100-sxm":
        slower = f.variant_efficiency(known.efficiency, numbers["early_software"])
        rate = f.attention_rate(known.peak, slower, numbers["attention_most"], numbers["attention.torch"], _one())
        known = replace(known, efficiency=slower, attention=rate)
    return known


def _one() -> Figure:
    return given("as others", 1.0, "1", "row")


def _fp4_ratio(s: Situation) -> float:
    return float(s.part_fact("peak_flops_fp4")) / float(s.part_fact("peak_flops"))


def plan_text(source: str, row: Row) -> str:
    """The plan of a row."""
    tensor, pipeline, context = (int(row.get(key) or 1) for key in ("tp", "pp", "cp"))
    data = int(row["gpus"]) // (tensor * pipeline * context)
    micro = _micro(source, row, data)
    batch = max(round(row["gbs"] / (data * micro)), 1) * data * micro
    training = "\n".join(f"{key} = {_toml(value)}" for key, value in _training(source, row).items())
    parallel = "\n".join(f"{key} = {_toml(value)}" for key, value in _parallel(source, row).items())
    fabric = f'scale_out_bandwidth = "{FABRIC[source]}"' if source in FABRIC else ""
    return f"""format = 1
{_model(source, row)}
[data]
train_tokens = "1T"
sequence_length = {row["seq"]}
sampler = "megatron-blended"
document_mask = false
[[data.sources]]
name = "web"
unique_tokens = "1T"
[batch]
global_batch_sequences = {batch}
micro_batch_sequences = {micro}
[training]
{training}
[cluster]
accelerator = "{row["accelerator"]}"
nodes = {row["gpus"]}
accelerators_per_node = 1
{fabric}
[parallelism]
tensor = {tensor}
pipeline = {pipeline}
context = {context}
expert = {row.get("ep") or 1}
{parallel}
[utilization]
value = 0.4
"""


def _toml(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


def _micro(source: str, row: Row, data: int) -> int:
    """The microbatch; where a table does not say it, one sequence, and on TPU and in the tables of 2020 the whole local batch."""
    if source in XLA or source == "megatron2020":
        return max(1, int(row["gbs"]) // data)
    return int(row.get("mbs") or 1)


def _training(source: str, row: Row) -> Row:
    low = "fp8" in str(row["precision"]) or "fp4" in str(row["precision"])
    precision = "fp8-mixed" if low and row["accelerator"] != "tpu-v6e" else "bf16-mixed"
    if row.get("mp_mode") == "PURE":
        return {"framework": "fsdp", "precision": "bf16-pure", "gradient_dtype": "bf16"}
    if source in TORCH:
        return {"framework": TORCH[source], "precision": precision, "gradient_dtype": "fp32"}
    if source in XLA:
        return {"framework": "maxtext", "precision": precision}
    if source in EAGER:
        return {"framework": "megatron", "precision": "bf16-mixed", "attention": "eager", "gradient_dtype": "bf16"}
    return {"framework": "megatron", "precision": precision}


def _parallel(source: str, row: Row) -> Row:
    recompute = str(row.get("recompute", "none"))
    words: Row = {
        "recompute": "full"
        if recompute.startswith("full")
        else "selective"
        if recompute.startswith("selective")
        else "none"
    }
    words["sharding"] = _sharding(source, row)
    words["sequence_parallel"] = bool(row.get("sequence_parallel", source not in EAGER))
    virtual = _virtual(source, row)
    if virtual > 1:
        words["virtual_pipeline"] = virtual
    if source == "simumax-b200" or row["id"].startswith(BASELINE):
        words |= {"overlap_data": 0.0, "overlap_tensor": 0.0}
    return words


def _sharding(source: str, row: Row) -> str:
    if source == "mbridge":
        return "zero-3" if row.get("fsdp") else "zero-1"
    if source in XLA:
        return "zero-3"
    return SHARDING.get(str(row.get("fsdp")), "none" if source in EAGER else "zero-1")


def _virtual(source: str, row: Row) -> int:
    """Virtual stages; tables of vendor stacks that omit them ran interleaved."""
    pipeline = int(row.get("pp") or 1)
    if pipeline == 1:
        return 1
    if row.get("vp"):
        return int(row["vp"])
    if source in EAGER or source == "simumax-b200":
        return 1
    return min(4, _layers(row) // pipeline)


def _layers(row: Row) -> int:
    if "layers" in row:
        return int(row["layers"])
    if row["model"] in SHAPES:
        return int(SHAPES[row["model"]]["layers"])
    preset = entry("models", str(row["preset"]))
    assert preset is not None
    return int(preset["num_hidden_layers"].value)


def _model(source: str, row: Row) -> str:
    if "hidden" not in row and row["model"] not in SHAPES:
        return f'[model]\npreset = "{row["preset"]}"\n'
    shape: Row = row if "hidden" in row else dict(SHAPES[row["model"]])
    gated, kv = bool(shape.get("gated", False)), shape.get("kv_heads", shape["heads"])
    lines = [
        "[model]",
        f"num_hidden_layers = {shape['layers']}",
        f"hidden_size = {shape['hidden']}",
        f"intermediate_size = {shape.get('ffn', 4 * shape['hidden'])}",
        f"num_attention_heads = {shape['heads']}",
        f"num_key_value_heads = {kv}",
        f"head_dim = {_head(shape)}",
        f"vocab_size = {shape.get('vocab', 51200)}",
        f"gated_mlp = {str(gated).lower()}",
        f"tie_word_embeddings = {str(not gated).lower()}",
    ]
    return "\n".join([*lines, *_sparse(shape), *_latent(shape)]) + "\n"


def _head(shape: Row) -> int:
    """The head size. Heads that do not divide the width are a misprint: the next size that is a multiple of 8 stands for it."""
    if shape.get("head_dim"):
        return int(shape["head_dim"])
    size = shape["hidden"] / shape["heads"]
    return int(size) if size == int(size) else int(-(-size // 8) * 8)


def _sparse(shape: Row) -> list[str]:
    if not shape.get("experts"):
        return []
    found = [
        "[model.moe]",
        f"num_experts = {shape['experts']}",
        f"num_experts_per_tok = {shape['topk']}",
        f"moe_intermediate_size = {shape['moe_ffn']}",
        f"num_shared_experts = {1 if shape.get('shared_ffn') else 0}",
        f"first_k_dense_replace = {shape.get('dense_layers', 0)}",
    ]
    return [*found, f"shared_expert_intermediate_size = {shape['shared_ffn']}"] if shape.get("shared_ffn") else found


def _latent(shape: Row) -> list[str]:
    if not shape.get("kv_lora"):
        return []
    query = [f"q_lora_rank = {shape['q_lora']}"] if shape.get("q_lora") else []
    return [
        "[model.mla]",
        *query,
        f"kv_lora_rank = {shape['kv_lora']}",
        f"qk_nope_head_dim = {shape['qk_nope']}",
        f"qk_rope_head_dim = {shape['qk_rope']}",
        f"v_head_dim = {shape['v_dim']}",
    ]
