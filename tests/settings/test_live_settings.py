"""The settings of `sluice run`: what is wrong is one line with the key, the value and what is allowed."""

from pathlib import Path

import pytest

from sluice.errors import InputError
from sluice.settings.live import LiveSettings, read_live

LEAST = """
[objective]
latency_s = 0.5

[group]
name = "payments"
topics = ["payments"]
"""


def read(tmp_path: Path, text: str) -> LiveSettings:
    path = tmp_path / "run.toml"
    path.write_text(text)
    return read_live(path)


def test_little_is_needed(tmp_path: Path) -> None:
    settings = read(tmp_path, LEAST)
    assert settings.group[0].topics == ("payments",)
    assert settings.group[0].mode == "managed"
    assert settings.control.policy == "tail-binpack"
    assert settings.kafka.bootstrap is None


def test_several_groups_and_arguments_of_policies(tmp_path: Path) -> None:
    text = LEAST.replace("[group]", "[[group]]") + LEAST.partition("[group]")[1] + "\n"
    text = text.rpartition("[group]")[0] + '[[group]]\nname = "orders"\ntopics = ["a", "b"]\nmode = "group"\n'
    settings = read(tmp_path, text + "[policy.tail-binpack]\nf_up = 0.8\n[guards]\ncooldown_s = 3.0\n")
    assert [group.name for group in settings.group] == ["payments", "orders"]
    assert settings.policy["tail-binpack"] == {"f_up": 0.8}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("[objective]", "[objectives]"), r"unknown key objectives; did you mean 'objective'"),
        (("latency_s", "latency"), r"unknown key objective\.latency; did you mean 'latency_s'"),
        (("latency_s = 0.5", "latency_s = -1.0"), r"objective\.latency_s is -1\.0"),
        (('topics = ["payments"]', "topics = []"), r"group.*topics"),
        (('topics = ["payments"]', 'topics = ["a", "a"]'), r"names a topic twice"),
        (('name = "payments"', 'nane = "payments"'), r"unknown key group\.nane; did you mean 'name'"),
        (('name = "payments"', 'name = "payments"\nmode = "static"'), r"group\.mode is 'static'.*managed"),
        (('name = "payments"', 'name = "payments"\nsilence_s = 20.0'), r"silence_s 20 is longer than lease_s 10"),
        (('name = "payments"', 'name = "payments"\ninitial_consumers = 0'), r"initial_consumers is 0"),
        (("[group]", "[kafka]\nlimit = 3\n[group]"), r"unknown key kafka\.limit; did you mean 'limit_s'"),
        (("[group]", "[[group]]\nname='payments'\ntopics=['x']\n[[group]]"), r"'payments' is there twice"),
        (("[group]", "[group"), r"is not TOML"),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, change: tuple[str, str], said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        read(tmp_path, LEAST.replace(*change))
    assert "\n" not in str(caught.value)
    assert "run.toml" in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_live(tmp_path / "nowhere.toml")
