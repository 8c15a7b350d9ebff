"""What a target assignment promises, by the measured rates."""

from sluice.model import Assignment, Prediction, Workload


def predict(workload: Workload, target: Assignment) -> Prediction | None:
    """Utilisation of the busiest consumer, the wait behind the longest backlog, and what a move costs.

    None where rates or the service rate are unknown; the parts that need the rebalance time are
    None without it.
    """
    service_eps = workload.service_eps
    if not workload.known or service_eps is None or not service_eps > 0 or not target.count:
        return None
    rate, lag, pause_s = workload.arrival_eps, workload.lag_events, workload.rebalance_s
    shared = not (target.owner >= 0).any()
    rates = rate.sum() / target.count if shared else target.load(rate).max()
    worst_latency_s = moved_events = None
    if pause_s is not None:
        moved = workload.assignment.moved(target)
        moved_events = float(rate[moved].sum()) * pause_s
        waiting = lag + rate * pause_s * moved
        longest = waiting.sum() / target.count if shared else target.load(waiting).max()
        worst_latency_s = float(longest) / service_eps + (pause_s if moved.any() else 0.0)
    return Prediction(
        utilisation=float(rates) / service_eps, worst_latency_s=worst_latency_s, moved_events=moved_events
    )
