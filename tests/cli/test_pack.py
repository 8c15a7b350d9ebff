"""`sluice pack` as a user calls it, and every kind of file it refuses."""

import json
from pathlib import Path

import pytest

from sluice.cli.main import main
from sluice.theory.packing import PACKERS

MEASUREMENTS = Path(__file__).parents[3] / "shared" / "data" / "landau_measurements_5.json"
FIELDS = {"algorithm", "mean_consumers", "mean_rscore", "mean_reassignments", "cbs", "on_pareto_front"}


def packed(tmp_path: Path, text: str, *words: str) -> dict[str, dict[str, float]]:
    """Rows by algorithm."""
    file, rows = tmp_path / "stream", tmp_path / "rows.json"
    file.write_text(text, encoding="utf-8")
    assert main(["pack", str(file), "--capacity", "10", "--json", str(rows), *words]) == 0
    return {row["algorithm"]: row for row in json.loads(rows.read_text())}


STREAM = json.dumps([{"a": {"0": 6, "1": 4}, "b": {"0": 5}}, {"a": {"0": 7, "1": 4}, "b": {"0": 5}}])


def test_rows_of_a_stream_worked_out_by_hand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = packed(tmp_path, STREAM, "--algorithm", "ffd", "--algorithm", "nf", "--algorithm", "exact")
    assert all(set(row) == FIELDS for row in rows.values())
    # First {6, 4} {5}; then 7 needs a bin alone, and 4 moves to 5: 4 of 10 at one of two steps.
    for name in ("ffd", "exact"):
        assert rows[name] == {
            "algorithm": name,
            "mean_consumers": 2.0,
            "mean_rscore": pytest.approx(0.2),
            "mean_reassignments": 0.5,
            "cbs": 0.0,
            "on_pareto_front": True,
        }
    assert rows["nf"]["mean_consumers"] == 2.0
    shown = capsys.readouterr().out
    assert "Pareto front" in shown
    assert "2 measurements, capacity 10" in shown


def test_all_packers_by_default(tmp_path: Path) -> None:
    assert list(packed(tmp_path, STREAM)) == list(PACKERS)


CSV = "iteration,partition,size\n0,a-0,6\n0,a-1,4\n0,b-0,5\n1,a-0,7\n1,a-1,4\n1,b-0,5\n"


@pytest.mark.parametrize(
    "text",
    [
        CSV,
        "\ufeff" + CSV,
        CSV.removeprefix("iteration,partition,size\n"),
        CSV.replace("a-0", "0").replace("a-1", "1").replace("b-0", "2"),
        "size,other,Partition,iteration\n7,x,a-0,11\n4,x,a-1,11\n5,x,b-0,11\n\n6,x,a-0,2\n4,x,a-1,2\n5,x,b-0,2\n",
    ],
)
def test_csv_says_the_same_as_json(tmp_path: Path, text: str) -> None:
    assert packed(tmp_path, text, "--algorithm", "mwf") == packed(tmp_path, STREAM, "--algorithm", "mwf")


def test_order_matters_to_the_fits_that_do_not_sort(tmp_path: Path) -> None:
    # By number 6 and 5 come first and 4 and 5 fit in; as given 4, 5 share a bin and 6, 5 need one each.
    stream = json.dumps([{"t": {"3": 4, "2": 5, "1": 5, "0": 6}}])
    assert packed(tmp_path, stream, "--algorithm", "ff")["ff"]["mean_consumers"] == 2.0
    assert packed(tmp_path, stream, "--algorithm", "ff", "--order", "as-given")["ff"]["mean_consumers"] == 3.0
    assert packed(tmp_path, stream, "--algorithm", "ffd", "--order", "as-given")["ffd"]["mean_consumers"] == 2.0


def test_numbers_sort_as_numbers(tmp_path: Path) -> None:
    # Next fit by number: 0, 2, 10. As text 10 would come second and 2 would need a third bin.
    stream = json.dumps([{"t": {"0": 5, "10": 9, "2": 5}}])
    assert packed(tmp_path, stream, "--algorithm", "nf")["nf"]["mean_consumers"] == 2.0


def test_a_partition_that_leaves_and_comes_back_is_no_migration(tmp_path: Path) -> None:
    stream = json.dumps([{"t": {"0": 6, "1": 6}}, {"t": {"1": 6}}, {"t": {"0": 6, "1": 6}}])
    rows = packed(tmp_path, stream, "--algorithm", "mwf")
    assert rows["mwf"]["mean_rscore"] == rows["mwf"]["mean_reassignments"] == 0.0
    assert rows["mwf"]["mean_consumers"] == pytest.approx(5 / 3)


def test_the_published_stream(tmp_path: Path) -> None:
    if not MEASUREMENTS.exists():
        pytest.skip(f"the published measurements are not here: {MEASUREMENTS.name} in ../shared/data")
    file = tmp_path / "rows.json"
    assert main(["pack", str(MEASUREMENTS), "--capacity", "100", "--json", str(file)]) == 0
    rows = {row["algorithm"]: row for row in json.loads(file.read_text())}
    # Published: 15.06. Sizes are whole numbers, so ties abound, and how they fall shifts it by 0.15 either way.
    assert rows["mwf"]["mean_consumers"] == pytest.approx(15.06, abs=0.05)
    assert rows["mwf"]["mean_rscore"] == min(row["mean_rscore"] for row in rows.values())
    assert {"mwf", "mbf", "mbfp"} <= {name for name, row in rows.items() if row["on_pareto_front"]}
    assert min(rows["bfd"]["cbs"], rows["ffd"]["cbs"]) == 0.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "holds no measurement"),
        ("[]", "holds no measurement"),
        ("[{}]", "measurement 0 holds no partition"),
        ("[1", "is no JSON: Expecting ',' delimiter in line 1"),
        ('{"a": {"0": 1}}', "is no list of measurements"),
        ("[3]", "measurement 0 is not {topic: {partition: size}}"),
        ('[{"a": [1]}]', "measurement 0 is not {topic: {partition: size}}"),
        ('[{"a": {"x": 1}}]', "topic 'a': partition 'x' is no number"),
        ('[{"a": {"0": "big"}}]', "the size of a-0 is 'big'"),
        ('[{"a": {"0": true}}]', "the size of a-0 is True"),
        ('[{"a": {"0": null}}]', "the size of a-0 is None"),
        ('[{"a": {"0": 1}}, {"a": {"0": -1}}]', "measurement 1: the size of a-0 is -1.0"),
        ('[{"a": {"0": NaN}}]', "the size of a-0 is nan"),
        ('[{"a": {"0": 1e999}}]', "the size of a-0 is inf"),
        ('[{"a": {"0": 1, "0": 2}}]', "a-0 is there twice"),
        ("iteration,partition,size\n", "holds no measurement"),
        ("iteration,partition,bytes\n0,0,1\n", "has the columns 'iteration', 'partition', 'bytes'"),
        ("0,0\n", "line 1 has 2 columns"),
        ("0,0,much\n", "line 1: size 'much' is no number"),
        ("iteration,partition,size\n0,0,1\n\n0,1,nan\n", "the size of partition 1 is nan"),
        ("0,0,-3\n", "is -3.0"),
        ("0.5,0,1\n", "line 1: iteration '0.5' is no whole number"),
        ("0,,1\n", "line 1: the partition has no name"),
        ("0,orders,1\n", "partition 'orders' is not TOPIC-NUMBER"),
        ("0,0,1\n0,0,2\n", "partition 0 is there twice"),
        ("\x00\x01", "'\\x00\\x01'"),
    ],
)
def test_a_file_that_cannot_be_used(
    text: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "stream"
    file.write_text(text, encoding="utf-8")
    assert main(["pack", str(file), "--capacity", "10"]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert expected in captured.err
    assert captured.out == ""


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--capacity", "10", "--algorithm", "mfw"], "no packing algorithm is called 'mfw'; did you mean 'mwf'?"),
        (["--capacity", "0"], "capacity is 0.0"),
        (["--capacity", "nan"], "capacity is nan"),
        (["--capacity", "much"], "capacity"),
        ([], "capacity"),
        (["--capacity", "10", "--order", "random"], "order"),
    ],
)
def test_options_that_cannot_be_used(
    words: list[str], expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "stream.json"
    file.write_text(STREAM, encoding="utf-8")
    assert main(["pack", str(file), *words]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert expected in captured.err


def test_files_that_are_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pack", str(tmp_path / "none.json"), "--capacity", "1"]) == 2
    assert "cannot be read: No such file" in capsys.readouterr().err
    assert main(["pack", str(tmp_path), "--capacity", "1"]) == 2
    assert "cannot be read: Is a directory" in capsys.readouterr().err
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    assert main(["pack", str(tmp_path / "binary"), "--capacity", "1"]) == 2
    assert "is not text" in capsys.readouterr().err


def test_exact_says_when_it_takes_too_long(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sizes = {str(i): 25 + (i * 7919) % 31 for i in range(120)}
    file = tmp_path / "hard.json"
    file.write_text(json.dumps([{"t": sizes}]), encoding="utf-8")
    words = ["--capacity", "100", "--algorithm", "exact", "--time-limit-s", "0.01"]
    assert main(["pack", str(file), *words]) == 2
    assert "measurement 0: exact packing of 120 items did not end within 0.01 s" in capsys.readouterr().err
