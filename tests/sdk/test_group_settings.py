"""Group settings: what goes together, and the way through the environment."""

import pytest

from sluice.errors import InputError
from sluice.sdk.group_settings import GroupSettings


def test_settings_travel_through_the_environment() -> None:
    for settings in (
        GroupSettings(),
        GroupSettings(assignor="range", heartbeat_s=3.0, finish_batch=True),
        GroupSettings(rebalance="eager", watch=False, drain_s=0.0, ask_limit_s=1.25),
    ):
        assert GroupSettings.from_environment({**settings.to_environment(), "HOME": "x"}) == settings


@pytest.mark.parametrize(
    ("settings", "cooperative"),
    [
        (GroupSettings(), True),
        (GroupSettings(rebalance="eager"), False),
        (GroupSettings(assignor="range"), False),
        (GroupSettings(assignor="roundrobin", rebalance="eager"), False),
        (GroupSettings(assignor="cooperative-sticky"), True),
    ],
)
def test_each_assignor_has_its_way_to_rebalance(settings: GroupSettings, cooperative: bool) -> None:
    assert settings.cooperative is cooperative


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("assignor", "rnage", "did you mean 'range'"),
        ("rebalance", "both", "group.rebalance is 'both'"),
        ("heartbeat_s", "0", "above 0 s"),
        ("heartbeat_s", "soon", "SLUICE_GROUP_HEARTBEAT_S is 'soon'"),
        ("heartbeat_s", "9", "two heartbeats"),
        ("drain_s", "-1", "0 s or more"),
        ("ask_limit_s", "nan", "above 0 s"),
        ("watch", "perhaps", "true or false"),
    ],
)
def test_a_setting_that_cannot_be_is_one_clear_line(name: str, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        GroupSettings.from_environment({f"SLUICE_GROUP_{name.upper()}": text})
    assert "\n" not in str(caught.value)


def test_kafkas_own_assignors_cannot_be_told_how_to_rebalance() -> None:
    with pytest.raises(InputError, match="range is eager"):
        GroupSettings(assignor="range", rebalance="cooperative")
