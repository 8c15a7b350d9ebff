"""Does nothing: the plan is advice."""

from sluice.model import Action, Plan, Receipt


class Advise:
    """The executor of a run that only recommends."""

    def apply(self, plan: Plan) -> Receipt:
        return Receipt(time_s=plan.time_s, action=Action.HOLD)
