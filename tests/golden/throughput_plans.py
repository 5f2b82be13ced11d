"""Plans of published throughput rows: what each row says, and the settings that its source must be given.

The rows are the evidence catalogue, with their citations. Settings that a table does not print and that decide a prediction are
stated once for each source, never for a row; rows left out are named with the reason. The defaults are those of the step-time
study, section 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from throughput_models import SHAPES, Row, layers_of, model_text

from trainplan.budgets.communication import CommunicationBudget
from trainplan.budgets.compute import Throughput, throughput
from trainplan.budgets.kernels import Conditions, Numbers, conditions, fitted
from trainplan.budgets.model import ModelBudget, model_budget
from trainplan.budgets.pipeline import pipeline_bubble
from trainplan.budgets.prediction import StepBudget, step_budget
from trainplan.budgets.situation import Situation
from trainplan.budgets.tokens import MeshBudget, TokenBudget, mesh_budget, token_budget
from trainplan.catalogue import entry, names
from trainplan.formulas import communication as c
from trainplan.formulas import layer_time as f
from trainplan.plan.read import plan_of_text
from trainplan.quantity.figure import Figure, given

EAGER: Final = ("narayanan2021", "megatron2020", "korthikanti2022", "mtnlg", "vtrain", "bloom-prequel")
"""Sources whose Megatron materialises attention, overlaps no gradient reduction and reduces in 16 bits."""

UNTUNED: Final = {"overlap_data": 0.0, "overlap_tensor": 0.14}
"""Megatron-LM with no overlap switched on: SimuMax's rows and MegaScale's baseline.

With sequence parallel its backward still hides two of eight halves of an all-reduce but for the 22 % that show, and gathers two
more of which as much shows: 0.78 / 4 - 0.22 / 4.
"""

SYNCHRONOUS: Final = ("narayanan2021", "megatron2020", "mtnlg", "bloom-prequel")
"""Of these, forks from before September 2021, when Megatron-LM's backward began to hide all-reduces behind weight gradients."""

TORCH: Final = {"llm-foundry": "fsdp", "torchtitan-2024-12": "torchtitan", "torchtitan-2024-04": "torchtitan"}
XLA: Final = ("ironwood", "trillium")

FABRIC: Final = {"vtrain": "12.5GB/s", "bloom-prequel": "6.25GB/s", "llm-foundry": "25GB/s"}
"""Fabric of each source, one way and for each accelerator; the others have their part's usual one."""

SHARDING: Final = {"zero1": "zero-1", "zero2": "zero-2", "zero3": "zero-3", "zero3 over dp*cp": "zero-3"}

RECOMPUTED: Final = {"selective_layer": (0.5, 0.5, 0.5)}
"""Shares that no plan can say: linear layers, attention and passes over memory of every second layer."""

BASELINE: Final = "megascale.megatron."
"""Rows of Megatron-LM as MegaScale measured it: hiding transfers is what arXiv 2402.15627 adds (recalled, not re-read)."""

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


def rows(*, fitted: bool = True) -> list[tuple[str, Row]]:
    """Every row of the evidence catalogue with the name of its source: of sources that are fitted on, or of the others."""
    sources = (name for name in names("evidence") if not name.startswith("failures") and _fitted(name) is fitted)
    return [(name, row) for name in sources for row in _rows(name)]


def _fitted(name: str) -> bool:
    found = entry("evidence", name)
    assert found is not None
    said = found.get("fitted")
    return said is None or bool(said.value)


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
        shares = (given("layers computed again", share, "1", "row") for share in RECOMPUTED[one.row["recompute"]])
        linear, core, passes = shares
        known = replace(
            known,
            linear_recomputed=linear,
            attention_recomputed=core,
            pass_recomputed=passes,
            last_skipped=None,
        )
    if one.row["precision"] == "nvfp4":
        gain = max(float(numbers["fp8"]), float(numbers["fp4"]) * _fp4_ratio(one.s) / 4.0)
        known = replace(known, speedup=given("gain of fp4 products", gain, "1", "row"))
    if one.source == "bloom-prequel":
        known = replace(known, fabric=c.fabric_rate(one.s["cluster.scale_out_bandwidth"], numbers["site"]))
    if one.source == "llm-foundry" and one.row["accelerator"] == "h100-sxm":
        slower = f.variant_efficiency(known.efficiency, numbers["early_software"])
        share, own = numbers["attention.torch"], numbers["attention_kernels.torch"]
        rate = f.attention_rate(known.peak, slower, numbers["attention_most"], share, own)
        known = replace(known, efficiency=slower, attention=rate)
    if one.source == "torchtitan-2024-04":
        known = replace(known, loose_norms=False)
    return known


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
{model_text(row)}
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
        return {"framework": "fsdp", "precision": "bf16-pure", "gradient_dtype": "bf16", **_kernels(source, row)}
    if source in TORCH:
        return {"framework": TORCH[source], "precision": precision, "gradient_dtype": "fp32", **_kernels(source, row)}
    if source in XLA:
        return {"framework": "maxtext", "precision": precision}
    if source in EAGER:
        return {
            "framework": "megatron",
            "precision": "bf16-mixed",
            "attention": "eager",
            "gradient_dtype": "bf16",
            "loss": "plain",
        }
    newer = {key: row[key] for key in ("expert_kernels", "cuda_graphs", "attention_precision") if key in row}
    return {"framework": "megatron", "precision": precision, **newer}


def _kernels(source: str, row: Row) -> Row:
    """Operators one by one where a table or its configuration says so; llm-foundry's loss is one kernel all the same."""
    if source == "llm-foundry":
        return {"kernels": "torch-eager", "loss": "fused"}
    if source == "torchtitan-2024-04" or row.get("compile") is False:
        return {"kernels": "torch-eager", "loss": "plain"}
    return {}


def _parallel(source: str, row: Row) -> Row:
    recompute = str(row.get("recompute", "none"))
    words: Row = {"recompute": next((word for word in ("full", "selective") if recompute.startswith(word)), "none")}
    words["sharding"] = _sharding(source, row)
    words["sequence_parallel"] = bool(row.get("sequence_parallel", source not in EAGER))
    virtual = _virtual(source, row)
    if virtual > 1:
        words["virtual_pipeline"] = virtual
    if "overlap_expert" in row:
        words["overlap_expert"] = row["overlap_expert"]
    if source in SYNCHRONOUS:
        words["overlap_tensor"] = 0.0
    if source == "simumax-b200" or row["id"].startswith(BASELINE):
        words |= UNTUNED
    return words


def _sharding(source: str, row: Row) -> str:
    if source.startswith("mbridge"):
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
    return min(4, layers_of(row) // pipeline)
