"""Guards: wrappers that keep any policy from doing harm. Their order is set here and nowhere else."""

from dataclasses import dataclass

from sluice.plan.base import Policy
from sluice.plan.guards.bounds import Bounds
from sluice.plan.guards.cool_down import CoolDown
from sluice.plan.guards.gain import MinimumGain
from sluice.plan.guards.known import Known, needs_of
from sluice.plan.guards.no_change import NoChange
from sluice.plan.guards.patience import Patience
from sluice.plan.guards.reachable import Reachable
from sluice.plan.guards.recovery import Recovery
from sluice.plan.guards.settled import Settled
from sluice.plan.sizing import Idling


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardSettings:
    """What a user may set of the guards, whatever the policy."""

    min_consumers: int = 1
    max_consumers: int | None = None
    allow_idle: bool = False
    repack_gain: float = 0.1
    min_gain: float = 0.0
    patience_up: int = 1
    patience_down: int = 1
    cooldown_s: float = 5.0
    recovery_ratio: float = 1.0
    wait_settled: bool = True


def guarded(policy: Policy, settings: GuardSettings) -> Policy:
    """The policy inside its guards, innermost first.

    What is out of bounds is corrected before anyone judges it; what is worth nothing is refused before
    it counts as a wish; wishes are put off; without data nobody is asked at all; and what cannot be
    reached is said whatever is done. A guard set to do nothing is left out.
    """
    needs = needs_of(policy)
    inner: Policy = NoChange(
        Bounds(
            policy,
            min_consumers=settings.min_consumers,
            max_consumers=settings.max_consumers,
            allow_idle=settings.allow_idle or (isinstance(policy, Idling) and policy.allow_idle),
            repack_gain=settings.repack_gain,
        )
    )
    if (gain := MinimumGain(inner, min_gain=settings.min_gain)).min_gain > 0:
        inner = gain
    patience = Patience(inner, patience_up=settings.patience_up, patience_down=settings.patience_down)
    if max(patience.patience_up, patience.patience_down) > 1:
        inner = patience
    if (cool_down := CoolDown(inner, cooldown_s=settings.cooldown_s)).cooldown_s > 0:
        inner = cool_down
    if (recovery := Recovery(inner, recovery_ratio=settings.recovery_ratio)).recovery_ratio > 0:
        inner = recovery
    if settings.wait_settled:
        inner = Settled(inner)
    return Reachable(Known(inner, needs=needs))
