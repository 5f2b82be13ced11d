"""What a log's run had of the plan's model: layers that are printed, that parameters tell, or that the rung's own export has."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from trainplan.estimation import Estimate, estimate
from trainplan.interop.calibration import Calibration, calibration, measurement_for
from trainplan.interop.export.pilot import run_of
from trainplan.interop.export.run import ExportError
from trainplan.interop.logs.reading import read_log
from trainplan.plan.read import open_plan
from trainplan.quantity.figure import Figure

ROOT = Path(__file__).resolve().parents[3]
PLANS = sorted(path.stem for path in (ROOT / "plans").glob("*.toml"))
TODAY = dt.date(2026, 12, 1)


def of_plan(name: str) -> Estimate:
    return estimate(open_plan(ROOT / "plans" / f"{name}.toml").plan, TODAY)


def number(found: Estimate, key: str) -> float:
    value = found.quantities[key] if key in found.quantities else found.situation[key]
    assert isinstance(value, Figure)
    return float(value)


def log_of(run: Estimate, use: float, *, layers: float | None = None, printed: bool = False, **more: float) -> str:
    """A Megatron-LM log of a run at a utilization by the plan's convention; `printed` adds its FLOP/s."""
    world, length = number(run, "parallelism.world_size"), float(run.tokens.stretches[-1].sequence_length)
    batch, peak = float(run.tokens.stretches[-1].global_batch_sequences), float(run.speed.peak_flops)
    seconds = batch * length * float(run.speed.flops_per_token) / (world * peak * use)
    told = {"world_size": world, "seq_length": length, **({"num_layers": layers} if layers else {}), **more}
    head = [f"  {name} {'.' * (48 - len(name))} {value:.0f}" for name, value in told.items()]
    flops = f" throughput per GPU (TFLOP/s/GPU): {use * peak / 1e12:.3f} |" if printed else ""
    lines = [
        f" iteration {i:8d}/ 1000 | elapsed time per iteration (ms): {1e3 * seconds:.6f} |{flops} global batch size: {batch:.0f} |"
        for i in range(1, 121)
    ]
    return "\n".join([*head, *lines]) + "\n"


def calibrated(plan: Estimate, text: str, folder: Path, rung: str = "") -> Calibration:
    (folder / "run.log").write_text(text, encoding="utf-8")
    measurement = measurement_for(plan)
    read_log(folder / "run.log", measurement)
    found = measurement.result()
    assert found is not None
    return calibration(plan, found, "run.log", TODAY, rung)


@pytest.mark.parametrize("rung", ["one-device", "one-node", "few-nodes"])
@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("says", [True, False])
def test_a_rung_of_fewer_layers_measures_the_utilization_it_ran_at(
    name: str, rung: str, says: bool, tmp_path: Path
) -> None:
    """The full model's FLOP on a rung of 40 of 80 layers told twice the utilization that ran, and 16 times on one device."""
    plan, why = of_plan(name), ""
    try:
        run = run_of(plan, rung).estimate
    except ExportError as error:
        run, why = None, str(error)
    if run is None:
        assert "begin with the next rung" in why
        assert calibrated(plan, log_of(plan, 0.4), tmp_path, rung).utilization == pytest.approx(0.4, rel=1e-6)
        return
    layers = number(run, "model.num_hidden_layers")
    found = calibrated(plan, log_of(run, 0.4, layers=layers if says else None), tmp_path, rung)
    assert found.utilization == pytest.approx(0.4, rel=1e-6)
    planned = number(plan, "model.num_hidden_layers")
    assert any(f"{layers:.0f} of {planned:.0f} layers" in note for note in found.notes) is (layers < planned)
    assert (f"{layers:.0f} layer" in found.edits["utilization.source"]) is (layers < planned)
    step = number(plan, "tokens.global_batch_tokens") * float(plan.speed.flops_per_token)
    assert found.step_time == pytest.approx(
        step / (number(plan, "parallelism.world_size") * float(plan.speed.peak_flops) * 0.4), rel=1e-6
    )


def test_a_log_of_so_few_devices_is_of_the_layers_that_fit_on_them(tmp_path: Path) -> None:
    """`L` in Compute names no rung."""
    plan = of_plan("llama-3.1-405b")
    run = run_of(plan, "one-node").estimate
    assert number(run, "model.num_hidden_layers") < 126
    found = calibrated(plan, log_of(run, 0.4), tmp_path)
    assert found.utilization == pytest.approx(0.4, rel=1e-6)
    assert any("the log does not say its layers" in note for note in found.notes)


def test_memory_of_a_rung_is_beside_that_of_its_own_run(tmp_path: Path) -> None:
    plan = of_plan("llama-3.1-405b")
    run = run_of(plan, "one-node").estimate
    peak = 1.07 * float(run.memory.reserved) / 2**20
    text = log_of(run, 0.4, layers=number(run, "model.num_hidden_layers"))
    text += f"[Rank 0] (after 9 iterations) memory (MB) | max allocated: 2 | reserved: 3 | max reserved: {peak:.6f}\n"
    assert calibrated(plan, text, tmp_path, "one-node").edits["memory.calibration"] == pytest.approx(1.07, rel=1e-3)
    assert "memory.calibration" not in calibrated(plan, text, tmp_path).edits
    assert "memory.calibration" not in calibrated(plan, text, tmp_path, "few-nodes").edits


@pytest.mark.parametrize(("named", "value"), [("hidden_size", 8192.0), ("num_layers", 200.0)])
def test_a_log_of_another_model_sets_nothing_of_utilization(named: str, value: float, tmp_path: Path) -> None:
    plan = of_plan("llama-3.1-405b")
    found = calibrated(plan, log_of(plan, 0.4, **{named: value}), tmp_path)
    assert found.utilization is None
    assert not [path for path in found.edits if path.startswith("utilization")]
    assert any("another model" in note and "left alone" in note for note in found.notes)


def test_the_logs_own_flops_speak_against_layers_that_nobody_told(tmp_path: Path) -> None:
    """16 of 32 layers at the plan's scale: the log says neither, and its TFLOP/s does."""
    plan = of_plan("llama-3.1-8b")
    half = estimate(
        plan.plan.model_copy(update={"model": plan.plan.model.model_copy(update={"num_hidden_layers": 16})}), TODAY
    )
    found = calibrated(plan, log_of(half, 0.3, printed=True), tmp_path)
    assert found.utilization is None
    assert "utilization.value" not in found.edits
    assert any("fewer layers, another length or batch" in note for note in found.notes)
    for alike in (log_of(plan, 0.3, printed=True), log_of(half, 0.3, printed=True, layers=16)):
        agreed = calibrated(plan, alike, tmp_path)
        assert agreed.utilization == pytest.approx(0.3, rel=1e-6)
        assert not any("any convention" in note for note in agreed.notes)


@pytest.mark.parametrize(
    ("count", "use"), [(8_030_261_248, 0.3), (4_540_469_248, 0.3 * (3.152 + 24.16) / (3.152 + 48.32))]
)
def test_torchtitans_parameters_tell_the_layers(count: int, use: float, tmp_path: Path) -> None:
    """Llama 3.1 8B has 218,112,000 parameters a layer and 1,050,677,248 besides; the line is torchtitan's own.

    A token costs 6 x 525,336,576 FLOP in the head and 6 x (218,103,808 + 4,096 x 8,192) in each layer.
    """
    plan = of_plan("llama-3.1-8b")
    assert number(plan, "model.parameters") == 8_030_261_248
    rate = 0.3 * float(plan.speed.peak_flops) / float(plan.speed.flops_per_token)
    lines = [f"[rank0]:[titan] 2026-11-30 - root - INFO - Model llama3 8B size: {count:,} total parameters"]
    lines += [f"[titan] step: {i:2}  loss: 2.5  memory: 1.00GiB(1.00%)  tps: {rate:,.0f}" for i in range(1, 200)]
    found = calibrated(plan, "\n".join(lines) + "\n", tmp_path)
    assert found.utilization == pytest.approx(use, rel=1e-3)
    assert any("16 of 32 layers" in note for note in found.notes) is (count < 8_000_000_000)


def test_parameters_of_no_number_of_layers_are_another_models(tmp_path: Path) -> None:
    plan = of_plan("llama-3.1-8b")
    lines = ["Model llama3 70B size: 70,553,706,496 total parameters"]
    lines += [f"[titan] step: {i:2}  loss: 2.5  memory: 1.00GiB(1.00%)  tps: 700" for i in range(1, 200)]
    found = calibrated(plan, "\n".join(lines) + "\n", tmp_path)
    assert found.utilization is None
    assert any("another model" in note for note in found.notes)
