"""The journal: append-only, one decision a line, a torn last line does no harm."""

from pathlib import Path

import pytest
from tests.model.test_codec import decision

from sluice.control.journal import Journal, read_journal
from sluice.errors import InputError

FIRST, SECOND = decision([1, 2, 3], [4, 5, 6]), decision([7, 8, 9], [1, 2, 3])


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "journal.jsonl"
    with Journal(path) as journal:
        journal.append(FIRST)
    with Journal(path) as journal:
        journal.append(SECOND)
    assert list(read_journal(path)) == [FIRST, SECOND]


def test_a_line_is_on_disk_before_append_returns(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.append(FIRST)
    assert list(read_journal(tmp_path / "journal.jsonl")) == [FIRST]
    journal.close()


@pytest.mark.parametrize("left", [1, 100, -1])
def test_a_torn_last_line_is_dropped_on_reading_and_cut_before_writing_on(tmp_path: Path, left: int) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        journal.append(FIRST)
        journal.append(SECOND)
    whole = path.read_bytes()
    first_line = whole.index(b"\n") + 1
    path.write_bytes(whole[: first_line + left] if left > 0 else whole[:-1])
    assert list(read_journal(path)) == [FIRST]
    with Journal(path) as journal:
        journal.append(SECOND)
    assert list(read_journal(path)) == [FIRST, SECOND]


def test_a_journal_has_one_writer_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        journal.append(FIRST)
        with pytest.raises(InputError, match=r"journal\.jsonl is being written by another run; choose another place"):
            Journal(path)
    with Journal(path) as journal:
        journal.append(FIRST)
    assert len(list(read_journal(path))) == 2


def test_damage_in_the_middle_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        journal.append(FIRST)
        journal.append(SECOND)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1][:40] + b"\n" + lines[1])
    with pytest.raises(InputError, match="line 2 is not JSON"):
        list(read_journal(path))


def test_a_journal_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        list(read_journal(tmp_path / "nothing.jsonl"))
