"""The examples do what they say, on a real broker."""

import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow.dataset as ds
import pytest
from tests.live.managed_rig import eventually, rig
from tests.live.test_managed import committed

from sluice.broker import Broker
from sluice.settings.live import read_live

EXAMPLES = Path(__file__).parents[2] / "examples"
MakeTopic = Callable[..., str]
Names = Callable[[str], str]


def test_payments_are_handled_and_committed(
    broker: Broker, unique: Names, make_topic: MakeTopic, tmp_path: Path
) -> None:
    command = [sys.executable, str(EXAMPLES / "payments" / "consumer.py")]
    with rig(broker.bootstrap, unique("payments"), make_topic(2), 2, tmp_path, command=command) as made:
        made.produce(100)
        made.reach({"c0": [0], "c1": [1]})
        eventually(lambda: committed(made) == {0: 50, 1: 50}, 30.0)


def test_the_lake_holds_every_event_once_also_after_a_handover(
    broker: Broker, unique: Names, make_topic: MakeTopic, tmp_path: Path
) -> None:
    command = [sys.executable, str(EXAMPLES / "lake" / "consumer.py")]
    lake, topic = tmp_path / "lake", make_topic(2)
    variables = {"LAKE": str(lake), "BATCH_SIZE": "500", "WAIT_TIME_SECS": "0.2"}
    with rig(broker.bootstrap, unique("lake"), topic, 2, tmp_path, command=command, **variables) as made:
        made.produce(1000)
        made.reach({"c0": [0, 1]})
        made.produce(1000)
        made.reach({"c0": [0], "c1": [1]})
        made.produce(1000)
        eventually(lambda: sum(committed(made).values()) == 3000, 30.0)
    table = ds.dataset(lake / topic).to_table().to_pandas()
    assert len(table) == 3000
    assert sorted(int(value) for value in table["value"]) == list(range(3000))
    assert not table.duplicated(["partition", "offset"]).any()
    # Batches end by bytes: 500 bytes are at most 500 numbers of a digit and more, and the rest came by time.
    assert len(list((lake / topic).glob("*.parquet"))) > 5


@pytest.mark.parametrize("name", ["payments/payments.toml", "lake/lake.toml"])
def test_the_settings_of_the_examples_can_be_read(name: str) -> None:
    settings = read_live(EXAMPLES / name)
    assert settings.group[0].command[1] == f"examples/{Path(name).parent}/consumer.py"


def test_the_payments_of_a_day_are_those_of_the_scenario() -> None:
    rate_eps = runpy.run_path(str(EXAMPLES / "payments" / "producer.py"))["rate_eps"]
    total = sum(-(-rate_eps(second + 0.5) // 1) for second in range(600))
    assert total == pytest.approx(109_053, abs=1)
