"""Where a consumer's settings come from."""

import pytest

from sluice.errors import InputError
from sluice.sdk.settings import ConsumerSettings

HERE = {"SLUICE_BOOTSTRAP": "127.0.0.1:9092", "SLUICE_GROUP": "billing", "SLUICE_TOPICS": "payments, refunds"}


def test_the_environment_is_enough() -> None:
    settings = ConsumerSettings.from_environment({**HERE, "SLUICE_CONSUMER": "c3", "SLUICE_CLIENT": "a.b=1,c=2"})
    assert settings.topics == ("payments", "refunds")
    assert settings.consumer == "c3"
    assert settings.client == {"a.b": "1", "c": "2"}


def test_what_is_given_counts_before_the_environment() -> None:
    settings = ConsumerSettings.from_environment(HERE, topics="orders", group="other")
    assert (settings.topics, settings.group, settings.bootstrap) == (("orders",), "other", "127.0.0.1:9092")


def test_two_processes_never_share_an_instance() -> None:
    one, two = ConsumerSettings.from_environment(HERE), ConsumerSettings.from_environment(HERE)
    assert one.instance != two.instance
    assert one.consumer != two.consumer


@pytest.mark.parametrize(
    ("environment", "given", "text"),
    [
        ({}, {}, "bootstrap is missing; give it to run.. or set SLUICE_BOOTSTRAP"),
        ({**HERE, "SLUICE_TOPICS": " , "}, {}, "topics is .*SLUICE_TOPICS"),
        ({**HERE, "SLUICE_GROUP": " "}, {}, "group is empty"),
        ({**HERE, "SLUICE_MODE": "managd"}, {}, "did you mean 'managed'"),
        ({**HERE, "SLUICE_MAX_POLL_EVENTS": "many"}, {}, "SLUICE_MAX_POLL_EVENTS is 'many'"),
        ({**HERE, "SLUICE_FROM_START": "maybe"}, {}, "SLUICE_FROM_START is 'maybe'"),
        (HERE, {"topic": "x"}, "no setting 'topic'; did you mean 'topics'"),
        (HERE, {"max_poll_events": 0}, "max_poll_events is 0"),
    ],
)
def test_mistakes_are_named(environment: dict[str, str], given: dict[str, object], text: str) -> None:
    with pytest.raises(InputError, match=text):
        ConsumerSettings.from_environment(environment, **given)
