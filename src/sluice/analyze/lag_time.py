"""A group's lag in seconds, from what was measured at the last ticks."""

from collections.abc import Sequence

import numpy as np

from sluice.model import Decision, LagBasis, Snapshot
from sluice.model.values import FloatArray, frozen
from sluice.theory.lag_time import lag_seconds


def lag_time_s(snapshot: Snapshot, recent: Sequence[Decision], *, basis: LagBasis | None = None) -> FloatArray:
    """Age of the oldest waiting event of each partition, by the snapshot's own basis unless another is asked for.

    Retention-aware and never negative; an idle partition without lag has 0, whatever its rate.
    """
    position = snapshot.committed_events
    if (basis or snapshot.lag_basis) is LagBasis.PROCESSED and snapshot.processed_events is not None:
        # A position that is not reported is at least what was committed.
        position = np.fmax(snapshot.processed_events, snapshot.committed_events)
    if snapshot.start_events is not None:
        # An unknown beginning of the log takes nothing away.
        position = np.where(np.isnan(snapshot.start_events), position, np.maximum(position, snapshot.start_events))
    past = [d.snapshot for d in recent if d.snapshot.partitions == snapshot.partitions]
    past = [s for s in past if s.time_s < snapshot.time_s]
    return frozen(
        lag_seconds(
            np.array([*(s.time_s for s in past), snapshot.time_s]),
            np.stack([*(s.end_events for s in past), snapshot.end_events]),
            position,
        )
    )
