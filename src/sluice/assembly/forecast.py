"""Loads the models that `sluice pipeline forecast` made."""

from pathlib import Path

from sluice.analyze.base import Analyzer
from sluice.analyze.by_group import ByGroup
from sluice.analyze.forecast import Forecasting
from sluice.errors import InputError, UnavailableError
from sluice.model import Partition
from sluice.theory.lag_model import LagModel


def forecasting(measured: Analyzer, folder: str | None, group: str) -> Analyzer:
    """The analyzer with the forecasts of the models in `folder`, if there is one."""
    if folder is None:
        return measured
    step_s, models = load_models(Path(folder), group)
    return Forecasting(wrapped=measured, models=models, step_s=step_s)


def looks_back_s(analyzer: ByGroup) -> float:
    """How far back the forecasts of any group look."""
    return max((a.memory_s for a in analyzer.analyzers.values() if isinstance(a, Forecasting)), default=0.0)


def load_models(path: Path, group: str) -> tuple[float, dict[Partition, LagModel]]:
    """(seconds of one step, the models of the group's partitions)."""
    try:
        import pyarrow.parquet as pq
    except ModuleNotFoundError:
        raise UnavailableError("PyArrow, which reads forecast models, is missing; install sluice[spark]") from None
    try:
        rows = pq.read_table(path).to_pylist()
    except (OSError, ValueError) as error:
        raise InputError(f"forecast models {path} cannot be read: {str(error).splitlines()[0]}") from None
    mine = [row for row in rows if row.get("group") == group]
    if not mine:
        raise InputError(
            f"forecast models {path} hold none of group {group!r}; train some with `sluice pipeline forecast`"
        )
    steps = {float(row["step_s"]) for row in mine}
    if len(steps) > 1:
        raise InputError(
            f"forecast models {path} mix steps of {', '.join(f'{s:g}' for s in sorted(steps))} s; train anew"
        )
    models = {
        Partition(row["topic"], row["partition"]): LagModel(
            row["horizon"], tuple(row["lags"]), tuple(row["weights"]), row["intercept"]
        )
        for row in mine
    }
    return steps.pop(), models
