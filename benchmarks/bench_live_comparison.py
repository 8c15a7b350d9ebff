"""Workload A in real time on a real broker: tail-binpack with managed consumers against KEDA's rule with Kafka's own
assignor, and how true the simulator's prediction of both was."""

from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.measure import Measurement

from sluice.broker import Broker
from sluice.lab.library import find_scenario
from sluice.lab.live.bench import Compared, bench_live
from sluice.lab.live.settings import Manner

COMPRESS = 8
"""75 seconds each. KEDA's rule keeps its own times, as a group that changes this fast would meet it."""
SEED = 5
SLA_POINTS, REPLICA_PERCENT = 3.0, 10.0


def run() -> list[Measurement]:
    with Broker() as broker, TemporaryDirectory(prefix="sluice-bench-") as temporary:
        ours = _live(broker.bootstrap, "tail-binpack", Manner(), Path(temporary))
        keda = _live(broker.bootstrap, "keda", Manner(mode="group", assignor="range"), Path(temporary))
    ratio = ours.live.replica_minutes / keda.live.replica_minutes
    return [
        Measurement("live: workload A, tail-binpack, in time", 100 * ours.live.sla_ratio, "%", 95.0, True),
        Measurement("live: workload A, KEDA's rule, in time", 100 * keda.live.sla_ratio, "%", 0.0, True),
        Measurement("live: workload A, replicas of tail-binpack over KEDA's rule", ratio, "ratio", 1.0, False),
        *_twin("tail-binpack", ours),
        *_twin("KEDA's rule", keda),
    ]


def _live(bootstrap: str, policy: str, manner: Manner, folder: Path) -> Compared:
    return bench_live(
        find_scenario("workload-a"),
        policy,
        manner,
        bootstrap=bootstrap,
        seed=SEED,
        compress=COMPRESS,
        folder=folder / policy,
    )


def _twin(name: str, made: Compared) -> list[Measurement]:
    points = 100 * abs(made.live.sla_ratio - made.simulated.sla_ratio)
    percent = 100 * abs(made.live.replica_minutes / made.simulated.replica_minutes - 1)
    return [
        Measurement(f"live: {name}, SLA off the prediction", points, "points", SLA_POINTS, False),
        Measurement(f"live: {name}, replicas off the prediction", percent, "%", REPLICA_PERCENT, False),
    ]
