"""Policies by name, their arguments checked."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.plan.contexts import context, workload

from sluice.errors import InputError
from sluice.model import Action
from sluice.plan.arguments import REQUIRED
from sluice.plan.guards.cool_down import CoolDown
from sluice.plan.registry import make_policy, policy_names, policy_parameters
from sluice.theory.packing import PACKERS


def chain(policy: Any) -> list[Any]:
    found = [policy]
    while hasattr(found[-1], "wrapped"):
        found.append(found[-1].wrapped)
    return found


def test_every_packer_is_a_policy() -> None:
    assert set(PACKERS) <= set(policy_names())


def test_arguments_go_to_the_policy_or_to_its_guards() -> None:
    policy = chain(make_policy("tail-binpack", f_up=0.8, cooldown_s=7))
    assert policy[-1].f_up == 0.8
    assert [guard.cooldown_s for guard in policy if isinstance(guard, CoolDown)] == [7.0]


def test_every_policy_can_be_made_with_all_its_own_defaults_spelt_out() -> None:
    for name in policy_names():
        given = {p.name: p.default for p in policy_parameters(name).values() if p.default is not REQUIRED}
        assert chain(make_policy(name, **given)) == chain(make_policy(name)), name


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("tail-binpak", {}, "policy 'tail-binpak' is unknown; did you mean 'tail-binpack'?"),
        ("linear", {"f_upp": 0.9}, "policy linear has no argument 'f_upp'; did you mean 'f_up'?"),
        ("linear", {"f_up": "much"}, "policy linear: f_up is 'much'; give a value of type float"),
        ("linear", {"f_up": True}, "policy linear: f_up is True; give a value of type float"),
        ("linear", {"f_up": float("nan")}, "policy linear: f_up is nan; give a finite number"),
        ("linear", {"f_up": 0.3}, "linear: f_up is 0.3 and f_down is 0.4; give 0 < f_down < f_up < 1"),
        ("linear", {"balancer": "rang"}, "balancer 'rang' is unknown; did you mean 'range'?"),
        ("linear", {"max_consumers": 1.5}, "policy linear: max_consumers is 1.5; give a value of type int"),
        (
            "linear",
            {"max_consumers": 0},
            "policy linear: max_consumers is 0, below min_consumers 1",
        ),
        ("mwf", {"algorithm": "ff"}, "policy mwf has no argument 'algorithm'"),
        ("mwf", {"capacity_ratio": 2.0}, "mwf: capacity_ratio is 2.0"),
        ("overprovision", {"peak_eps": -1}, "overprovision: peak_eps is -1.0"),
    ],
)
def test_mistakes_are_one_clear_line(name: str, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        make_policy(name, **arguments)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_another_package_can_bring_a_policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "brought.py").write_text(
        "from dataclasses import dataclass\n"
        "from sluice.model import Reason\n"
        "from sluice.plan.base import hold\n\n"
        "@dataclass(frozen=True, slots=True, kw_only=True)\n"
        "class Brought:\n"
        "    name: str = 'brought'\n"
        "    patience_s: float\n\n"
        "    def plan(self, context):\n"
        "        return hold(context, self.name, Reason('brought'))\n"
    )
    info = tmp_path / "brought-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: brought\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[sluice.policies]\nbrought = brought:Brought\nlost = brought:Lost\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "brought" in policy_names()
    with pytest.raises(InputError, match="policy brought needs patience_s"):
        make_policy("brought")
    policy = make_policy("brought", patience_s=1, min_consumers=2)
    assert policy.plan(context(workload([1.0, 1.0, 1.0]))).action is Action.UP  # its guards work for it too
    # Unless it says what it needs, it is never shown a workload with gaps.
    assert policy.plan(context(workload([1.0, 1.0], service_eps=None))).guard == "missing data"
    with pytest.raises(InputError, match="brought:Lost cannot be loaded"):
        make_policy("lost")


def test_names_are_listed_without_loading_compiled_code() -> None:
    code = "import sys; from sluice.plan.registry import policy_names as p; p(); assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
