"""A scenario file: what is accepted, and the one line that tells what is not."""

from pathlib import Path

import pytest

from sluice.errors import InputError
from sluice.lab.library import find_scenario, packaged_names, stand_ins
from sluice.settings.rate import TraceRate
from sluice.settings.scenario import Scenario, read_scenario

GOOD = """
name = "small"
duration_s = 10

[objective]
latency_s = 0.5

[topic]
partitions = 3

[topic.arrivals]
kind = "poisson"

[topic.rate]
kind = "constant"
eps = 100

[group]
initial_consumers = 1

[group.service]
kind = "fixed"
mean_s = 0.005
"""


def read(folder: Path, text: str) -> Scenario:
    path = folder / "s.toml"
    path.write_text(text, encoding="utf-8")
    return read_scenario(path)


def test_one_table_and_a_list_of_one_are_the_same(tmp_path: Path) -> None:
    listed = GOOD.replace("[topic]", "[[topic]]").replace("[group]", "[[group]]")
    assert read(tmp_path, GOOD) == read(tmp_path, listed)


@pytest.mark.parametrize("name", packaged_names())
def test_packaged_scenarios_are_named_as_their_file(name: str) -> None:
    assert find_scenario(name).name == name


def test_workload_a_is_the_published_set_up() -> None:
    scenario = find_scenario("workload-a")
    group = scenario.group[0]
    assert (group.rebalance_s, group.heartbeat_s, group.max_poll_events) == (0.05, 3.0, 500)
    assert (group.initial_consumers, group.lag_basis, group.protocol) == (1, "committed", "eager")
    assert scenario.guards["cooldown_s"] == 5.0


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("duration_s", "duraton_s", "unknown key duraton_s; did you mean 'duration_s'?"),
        ("latency_s = 0.5", "latency_s = 0.5\nsla = 1", "unknown key objective.sla; "),
        ("mean_s", "mean", "unknown key group.service.mean; did you mean 'mean_s'?"),
        ("[topic.arrivals]", "[topic.arrival]", "unknown key topic.arrival; did you mean 'arrivals'?"),
        ("latency_s = 0.5", "", "objective.latency_s is missing"),
        ("eps = 100", "eps = -1", "topic.rate.eps is -1: "),
        ("eps = 100", "eps = nan", "topic.rate.eps is nan: "),
        ("eps = 100", "eps = inf", "topic.rate.eps is inf: "),
        ("eps = 100", 'eps = "100"', "topic.rate.eps is '100': "),
        ("mean_s = 0.005", "mean_s = 0", "group.service.mean_s is 0: "),
        ("mean_s = 0.005", "mean_s = inf", "group.service.mean_s is inf: "),
        ("partitions = 3", "partitions = 0", "topic.partitions is 0: "),
        ("partitions = 3", "partitions = 2.5", "topic.partitions is 2.5: "),
        ("initial_consumers = 1", "initial_consumers = 0", "group.initial_consumers is 0: "),
        ("initial_consumers = 1", "initial_consumers = 4", "group.initial_consumers is 4, more consumers than the 3 "),
        ("initial_consumers = 1", 'topics = ["other"]', "group.topics names 'other', which nobody writes"),
        ('kind = "poisson"', 'kind = "possion"', "topic.arrivals is "),
        ('kind = "poisson"', 'kind = "mmpp"\nstates_eps = [1]\nmean_dwell_s = [1, 2]', "states_eps has 1 and mean"),
        ("[topic.rate]", "[policy.linear]", "topic: rate is missing; poisson arrivals need one"),
        (
            "[topic.rate]",
            '[topic.choice]\nkind = "weights"\nweights = [1, 1, 1]\nround_up = true\n[topic.rate]',
            "topic: choice.round_up is for bursts, and arrivals are poisson",
        ),
        (
            "initial_consumers = 1",
            'output = { name = "o", partitions = 1, choice = { kind = "weights", weights = [1], round_up = true } }',
            "group.output: choice.round_up is for bursts of a topic",
        ),
        ("duration_s = 10", "duration_s = 0.5", "duration_s 0.5 is shorter than interval_s 1"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, old: str, new: str, told: str) -> None:
    assert old in GOOD
    with pytest.raises(InputError) as caught:
        read(tmp_path, GOOD.replace(old, new, 1))
    assert told in str(caught.value)
    assert str(caught.value).startswith(f"{tmp_path / 's.toml'}: ")
    assert "\n" not in str(caught.value)


def test_two_groups_are_told_apart(tmp_path: Path) -> None:
    second = '\n[[group]]\nname = "late"\nservice = { kind = "fixed", mean_s = -1.0 }\n'
    listed = GOOD.replace("[group]", "[[group]]") + second
    with pytest.raises(InputError, match=r"group\[1\]\.service\.mean_s is -1.0"):
        read(tmp_path, listed)


def test_no_groups_is_an_error(tmp_path: Path) -> None:
    text = GOOD[: GOOD.index("[group]")]
    with pytest.raises(InputError, match="group is missing"):
        read(tmp_path, text)
    with pytest.raises(InputError, match="group is "):
        read(tmp_path, "group = []\n" + text)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b'name = "x"\nduration_s = = 3\n', "line 2"),
        (b"name = 'x\n", "line 1, the end"),
        (b"name = \xff\xfe\n", "UTF-8"),
    ],
)
def test_a_file_that_is_no_toml_names_the_line(tmp_path: Path, content: bytes, told: str) -> None:
    path = tmp_path / "broken.toml"
    path.write_bytes(content)
    with pytest.raises(InputError, match=told):
        read_scenario(path)


def test_an_absent_scenario_suggests_a_packaged_one() -> None:
    with pytest.raises(InputError, match="did you mean 'workload-a-skewed'"):
        find_scenario("workload-a-skewd")
    with pytest.raises(InputError, match="no file"):
        find_scenario("nowhere/workload-a.toml")


def test_a_trace_is_looked_for_in_the_data_folder_and_replaced_where_absent(tmp_path: Path) -> None:
    assert stand_ins(find_scenario("workload-b", tmp_path)) == ("nyc_2h_per_second.csv",)
    (tmp_path / "nyc_2h_per_second.csv").write_text("1\n")
    found = find_scenario("workload-b", tmp_path)
    assert stand_ins(found) == ()
    rate = found.topic[0].rate
    assert isinstance(rate, TraceRate)
    assert Path(rate.file) == tmp_path / "nyc_2h_per_second.csv"
