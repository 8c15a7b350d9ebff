"""What each stage of a topology will have to take in once everybody before it keeps up."""

from collections.abc import Mapping
from typing import NamedTuple

from sluice.model import Reason, Stage, Topology, Workload
from sluice.plan.base import PlanContext
from sluice.theory.loads import usable


class Inflow(NamedTuple):
    """Events/s a stage must take in: what arrives, and for a while what everybody before it catches up on."""

    rate_eps: float
    backlog_events: float
    """Backlog of this stage and, as far as it will come down to it, of all before it."""


def inflow(context: PlanContext) -> Inflow | Reason:
    """The inflow of the context's own stage, from the sources down, or a reason that names what is missing.

    One pass in the order of flow: what leaves a stage is its selectivity times what it must take in, not the
    rounded number of its instances times their rate. A stage with several outputs writes evenly to them.
    """
    own, topology = context.workload, context.topology
    if topology is None:
        return Inflow(float(own.arrival_eps.sum()), float(own.lag_events.sum()))
    workloads: Mapping[str, Workload] = {**(context.peers or {}), own.group: own}
    needed = _upstream(topology, own.group)
    outflow: dict[str, Inflow] = {}
    for stage in topology.order:
        if stage.name not in needed:
            continue
        workload = workloads.get(stage.name)
        if workload is None or not usable(workload.arrival_eps) or not usable(workload.lag_events):
            return Reason("rates or lag of stage {stage} are not known", {"stage": stage.name})
        taken = _taken(stage, topology, workload, outflow)
        if stage.name == own.group:
            return taken
        if workload.selectivity is None:
            return Reason("selectivity of stage {stage} is not known", {"stage": stage.name})
        outflow[stage.name] = Inflow(*(workload.selectivity * part for part in taken))
    return Reason("stage {stage} is not part of the topology", {"stage": own.group})


def _taken(stage: Stage, topology: Topology, workload: Workload, outflow: Mapping[str, Inflow]) -> Inflow:
    outside = [topic in topology.sources for topic, _ in workload.partitions]
    rate_eps = float(workload.arrival_eps[outside].sum())
    backlog = float(workload.lag_events.sum())
    for name, written in outflow.items():
        outputs = topology.stage(name).outputs
        share = sum(topic in stage.inputs for topic in outputs) / len(outputs) if outputs else 0.0
        rate_eps += share * written.rate_eps
        backlog += share * written.backlog_events
    return Inflow(rate_eps, backlog)


def _upstream(topology: Topology, name: str) -> set[str]:
    """The stage and everybody whose events come down to it."""
    found = {name}
    for stage in reversed(topology.order):
        if any(reader.name in found for reader in topology.readers(stage.name)):
            found.add(stage.name)
    return found
