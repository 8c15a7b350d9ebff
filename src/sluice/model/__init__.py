"""The vocabulary: frozen values that carry everything from stage to stage."""

from sluice.model.assignment import NOBODY, Assignment, Move, Partition
from sluice.model.decision import Decision, Receipt
from sluice.model.objective import Objective, PathObjective
from sluice.model.plan import Action, Candidate, Plan, Prediction, Reason, action_between
from sluice.model.published import PublishedPlan
from sluice.model.snapshot import ConsumerReports, LagBasis, Snapshot
from sluice.model.topology import Stage, Topology
from sluice.model.values import replace
from sluice.model.workload import Workload

__all__ = [
    "NOBODY",
    "Action",
    "Assignment",
    "Candidate",
    "ConsumerReports",
    "Decision",
    "LagBasis",
    "Move",
    "Objective",
    "Partition",
    "PathObjective",
    "Plan",
    "Prediction",
    "PublishedPlan",
    "Reason",
    "Receipt",
    "Snapshot",
    "Stage",
    "Topology",
    "Workload",
    "action_between",
    "replace",
]
