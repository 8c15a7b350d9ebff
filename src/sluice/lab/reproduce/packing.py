"""Consumer groups as variable-item-size bin packing: streams of sizes, and latency against Kafka's own assignment."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from sluice.errors import InputError
from sluice.lab.reproduce.claim import NUMBER_RATIO, Measured
from sluice.lab.reproduce.figure import Figure, Trace, bars, box, cdf, line, marks
from sluice.lab.reproduce.packing_claims import CLAIMS, MODIFIED, RECORDED
from sluice.lab.reproduce.paper import Findings, Paper, Setting
from sluice.model.values import FloatArray, IntArray
from sluice.theory.assignors import round_robin
from sluice.theory.handover_latency import latency_samples
from sluice.theory.packing import PACKERS, cbs, pareto_front, rscore, size_stream

CAPACITY = 100.0
READ = 133.0
"""What a consumer can really read: its bins are smaller, so that it catches up after a migration."""
DELTAS = (0, 5, 10, 15, 20, 25)
PARTITIONS, STEPS, SEEDS = 200, 501, 3
KAFKA = range(15, 33)
IN_ANY_ORDER = ("nf", "ff", "bf", "wf")
"""The authors' code shuffles the items of these anew each time; the others find equal sizes in the same order."""
FROM_BIN_0 = ("nf", "nfd")
"""The authors' next fits begin with bin 0 open, whoever owned the first item."""
_PARTITIONS_OF_A_TOPIC = 16


@dataclass(frozen=True, slots=True)
class _Stream:
    delta: int
    seed: int
    start: float | None


@dataclass(frozen=True, slots=True, eq=False)
class _Streamed:
    """Mean over the steps of one stream, by algorithm."""

    rscore: dict[str, float]
    consumers: dict[str, float]
    cbs: dict[str, float]


def run(setting: Setting) -> Findings:
    seeds = range(setting.seeds or SEEDS)
    plain = [_Stream(delta, seed, None) for delta in DELTAS for seed in seeds]
    started = [_Stream(25, seed, start) for start in (0.0, 50.0, 100.0) for seed in seeds]
    streamed = setting.runner.map(_stream, plain + started)
    by_delta = {d: _mean(streamed[i * len(seeds) : (i + 1) * len(seeds)]) for i, d in enumerate(DELTAS)}
    rest = streamed[len(plain) :]
    by_start = [_mean(rest[i * len(seeds) : (i + 1) * len(seeds)]) for i in range(3)]
    sizes, source = recorded_sizes(setting.data)
    latency, figures = _latency_run(sizes)
    return Findings(
        measured={**_stream_claims(by_delta, by_start), **latency},
        figures=(*_stream_figures(by_delta), *figures),
        sources=(f"sizes of the streams: drawn, {PARTITIONS} partitions, {STEPS} steps, {len(seeds)} seeds", source),
    )


def _stream(stream: _Stream) -> _Streamed:
    sizes = size_stream(
        partitions=PARTITIONS,
        steps=STEPS,
        delta=stream.delta,
        seed=stream.seed,
        start=stream.start,
        whole=True,
        capacity=CAPACITY,
    )
    moved, counts = {}, {}
    for name in PACKERS:
        owners = owners_of(name, sizes, np.random.default_rng(stream.seed))
        scores = [rscore(s, a, b, CAPACITY) for s, (a, b) in zip(sizes[1:], pairwise(owners), strict=True)]
        moved[name] = float(np.mean(scores))
        counts[name] = [len(np.unique(owner)) for owner in owners]
    return _Streamed(moved, {name: float(np.mean(row)) for name, row in counts.items()}, cbs(counts))


def owners_of(algorithm: str, sizes: FloatArray, random: np.random.Generator | None = None) -> list[IntArray]:
    """The assignment of each step, each from the one before, as the authors' code makes them.

    Their plain fits take the items in an order that is `random` (if given) and drawn anew each time.
    """
    owner = np.full(sizes.shape[1], -1, dtype=np.int64)
    order = np.arange(sizes.shape[1])
    owners = []
    for size in sizes:
        if random is not None and algorithm in IN_ANY_ORDER:
            order = random.permutation(order)
        known = owner[order]
        if algorithm in FROM_BIN_0:
            # An item that nobody owned opens the lowest number.
            known[np.argmax(size[order]) if algorithm == "nfd" else 0] = -1
        packed = np.empty_like(owner)
        packed[order] = PACKERS[algorithm](size[order], known, CAPACITY)
        owner = packed
        owners.append(owner)
    return owners


def _mean(parts: list[_Streamed]) -> _Streamed:
    def over(field: str) -> dict[str, float]:
        return {name: float(np.mean([getattr(part, field)[name] for part in parts])) for name in PACKERS}

    return _Streamed(over("rscore"), over("consumers"), over("cbs"))


def _stream_claims(by_delta: dict[int, _Streamed], by_start: list[_Streamed]) -> dict[str, Measured]:
    moving = [by_delta[delta] for delta in DELTAS if delta >= 5]
    names = tuple(PACKERS)

    def always(chosen: list[set[str]]) -> tuple[str, ...]:
        return tuple(name for name in names if all(name in some for some in chosen))

    five, most = by_delta[5], by_delta[25]
    return {
        "front": always([_front(part) for part in moving]),
        "fewest": always([_fewest(part.cbs) for part in moving]),
        "most": always([set(sorted(names, key=lambda n: part.cbs[n])[-2:]) for part in moving]),
        "most-order": tuple(float(np.mean([100 * part.cbs[name] for part in moving])) for name in ("nfd", "nf")),
        "modified-cbs": always([{min(MODIFIED, key=lambda n: part.cbs[n])} for part in moving]),
        "best-five": always([set(sorted(names, key=lambda n: part.rscore[n])[:5]) for part in moving]),
        "rises": tuple(name for name in names if _rises([by_delta[delta].rscore[name] for delta in DELTAS])),
        "start": tuple(_more(part.rscore["mwf"], part.rscore["nfd"]) for part in (most, *by_start)),
        "rscore-5-nfd": _more(five.rscore["mwf"], five.rscore["nfd"]),
        "rscore-5-bfd": _more(five.rscore["mwf"], five.rscore["bfd"]),
        "count-5-bfd": _more(five.consumers["mwf"], five.consumers["bfd"]),
        "rscore-25-nfd": _more(most.rscore["mwf"], most.rscore["nfd"]),
        "count-25-bfd": _more(most.consumers["mwf"], most.consumers["bfd"]),
    }


def _fewest(scores: dict[str, float]) -> set[str]:
    least = min(scores.values())
    return {name for name, score in scores.items() if score == least}


def _front(part: _Streamed) -> set[str]:
    names = list(PACKERS)
    on_it = pareto_front([(part.cbs[name], part.rscore[name]) for name in names])
    return {name for name, good in zip(names, on_it.tolist(), strict=True) if good}


def _rises(scores: list[float]) -> bool:
    level = all(right >= left * (1 - NUMBER_RATIO) for left, right in pairwise(scores))
    return level and scores[-1] > scores[0]


def _more(value: float, than: float) -> float:
    return 100.0 * (value / than - 1.0)


def recorded_sizes(data: Path) -> tuple[FloatArray, str]:
    """The published measurements, partitions in the order of topic and number; else a stream of the same kind."""
    path = data / RECORDED
    if not path.is_file():
        drawn = size_stream(partitions=2 * _PARTITIONS_OF_A_TOPIC, steps=100, delta=5, seed=0, capacity=CAPACITY)
        return np.round(drawn), f"{RECORDED} is not there: a drawn stream of 32 partitions, delta 5, stands in"
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
        order = sorted((topic, int(number)) for topic, numbers in rows[0].items() for number in numbers)
        sizes = np.array([[row[topic][str(number)] for topic, number in order] for row in rows], dtype=np.float64)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path} is not a list of measurements: {error}; fetch it again") from None
    return sizes, f"{RECORDED}: recorded"


def _latency_run(sizes: FloatArray) -> tuple[dict[str, Measured], tuple[Figure, ...]]:
    owners = owners_of("mwf", sizes)
    consumers = float(np.mean([len(np.unique(owner)) for owner in owners]))
    mine = _samples(sizes, owners)
    p90, above, worst = {}, {}, {}
    boxes, cdfs = [box("MWF", mine[mine > 0])], [_cdf_of("MWF", mine)]
    for count in KAFKA:
        dealt = round_robin(np.repeat([0, 1], _PARTITIONS_OF_A_TOPIC), count)
        found = _samples(sizes, [dealt] * len(sizes))
        positive = found[found > 0]
        p90[count], above[count], worst[count] = _p90(found), len(positive), float(found.max())
        if len(positive):
            boxes.append(box(f"kd_{count}", positive))
        if count in (15, 24, 27, 30):
            cdfs.append(_cdf_of(f"kd_{count}", found))
    own_above = int((mine > 0).sum())
    measured: dict[str, Measured] = {
        "mwf-count": consumers,
        "mwf-p90": _p90(mine),
        "kd15-times": p90[15] / _p90(mine),
        "kd27-max": worst[27],
        "kd-order": (p90[24], p90[27]),
        "samples": tuple(f"kd_{count}" for count in KAFKA if above[count] < own_above),
        **{f"kd{count}-p90": p90[count] for count in (15, 24, 30, 31, 32)},
        **{f"kd{count}-more": _more(count, consumers) for count in (24, 30, 31, 32)},
    }
    names = ["MWF", *(f"kd_{count}" for count in KAFKA)]
    return measured, (
        Figure(
            title="Operational cost",
            hint="kd_m: Kafka's own assignment to m consumers, which never change.",
            traces=(bars("cost", names, [consumers, *KAFKA]),),
            y="consumers, mean",
        ),
        Figure(
            title="Samples above zero",
            traces=(bars("samples", names, [own_above, *above.values()]),),
            hint="kd_31 and kd_32 have none.",
            y="bytes that waited",
        ),
        Figure(
            title="Latency of what waited",
            hint="Boxes: quartiles; whiskers: 5 and 95 %.",
            traces=tuple(boxes),
            y="seconds, log scale",
            layout={"showlegend": False, "yaxis": {"type": "log", "dtick": 1}},
        ),
        Figure(
            title="Latency, distribution",
            hint="The last tenth; kd_15 goes on into the hundreds.",
            traces=tuple(cdfs),
            x="seconds",
            y="% of all bytes",
            layout={"xaxis": {"range": [0, 60]}},
        ),
    )


def _samples(sizes: FloatArray, owners: list[IntArray]) -> FloatArray:
    return latency_samples(sizes, owners, read_bps=READ, iteration_s=30.0, pause_s=5.0)


def _p90(samples: FloatArray) -> float:
    positive = samples[samples > 0]
    return float(np.percentile(positive, 90)) if len(positive) else 0.0


def _cdf_of(name: str, samples: FloatArray) -> dict[str, object]:
    shares = np.linspace(0.9, 1.0, 101)
    return dict(cdf(name, np.quantile(samples, shares), shares))


def _stream_figures(by_delta: dict[int, _Streamed]) -> tuple[Figure, ...]:
    deltas = [delta for delta in DELTAS if delta >= 5]
    return (
        *(_pareto(delta, by_delta[delta]) for delta in deltas),
        Figure(
            title="Rscore against delta",
            traces=tuple(line(n, DELTAS, [by_delta[d].rscore[n] for d in DELTAS]) for n in PACKERS),
            x="delta",
            y="mean Rscore",
        ),
        Figure(
            title="CBS against delta",
            traces=tuple(line(n, deltas, [100 * by_delta[d].cbs[n] for d in deltas]) for n in PACKERS),
            x="delta",
            y="consumers above the fewest, %",
        ),
    )


def _pareto(delta: int, part: _Streamed) -> Figure:
    def shown(label: str, names: Iterable[str], **more: object) -> Trace:
        kept = sorted(names, key=lambda n: (part.cbs[n], n))
        made = marks(label, [100 * part.cbs[n] for n in kept], [part.rscore[n] for n in kept], kept)
        return {**made, "hovertext": kept, "cliponaxis": False, **more}

    front = _front(part)
    # Those with about the fewest lie on top of each other: of them only the front is named, in turn above and below.
    beside = sorted(set(PACKERS) - front, key=lambda n: (part.cbs[n], n))
    return Figure(
        title=f"Pareto front at delta {delta}",
        hint="Left is fewer consumers, down is less moved; nothing is better in both than the front.",
        traces=(
            shown("front", front, mode="lines+markers+text", textposition=["top right", "bottom left"] * len(front)),
            shown("others", beside, text=[name if part.cbs[name] > 0.01 else "" for name in beside]),
        ),
        x="CBS: consumers above the fewest, %",
        y="mean Rscore",
        layout={"xaxis": {"range": [-4, 32]}},
    )


PAPER = Paper(
    name="packing",
    title="Consumer groups as variable-item-size bin packing",
    claims=CLAIMS,
    run=run,
    choices=(
        "Streams: 200 partitions, 501 steps, sizes kept within 0 and 100 % of the capacity, as in the authors' own "
        "results; their streams are not public, so three of ours are averaged.",
        "Sizes are whole percents; items come in an order drawn anew at each step for NF, FF, BF and WF, in the same "
        "one for the others: so do the authors' generator and algorithms.",
        "NF and NFD begin with bin 0 open, as in the authors' code; by their text the first item's old owner would "
        "open, which moves less: NFD's Rscore at delta 5 would be 17.9, not their 20.5.",
        "Latency run: bins of 100, consumers that read 133 a second; Kafka deals round robin over topic and partition.",
    ),
)
