"""The bound on the size of a log whose writer holds it open."""

from __future__ import annotations

import subprocess
import sys

import pytest

from openral_core.files.bounded_log import earlier_log, log_text, move_when_long

WRITER = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"
LIMIT = 1000


def test_the_newest_lines_of_a_running_writer_are_kept(tmp_path):
    log = tmp_path / "server.log"
    with log.open("ab") as output:
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER], stdin=subprocess.PIPE, stdout=output, text=True
        )
    moved, lines = 0, [f"line {number}" for number in range(1000)]
    with writer as process:
        for line in lines:
            print(line, file=process.stdin, flush=True)
            while not log_text(log).endswith(f"{line}\n"):
                assert process.poll() is None
            moved += move_when_long(log, LIMIT)
            assert log.stat().st_size <= LIMIT
        process.stdin.close()
    assert moved > 5
    kept = log_text(log).splitlines()
    assert kept == lines[-len(kept) :]
    assert LIMIT < len(log_text(log)) < 2 * LIMIT + 100
    assert sorted(tmp_path.iterdir()) == [log, earlier_log(log)]


def test_a_log_that_is_short_stays_as_it_is(tmp_path):
    log = tmp_path / "launch.log"
    assert log_text(log) == ""
    log.write_bytes(b"a\r\nb\xff\n")
    assert not move_when_long(log)
    assert log_text(log) == "a\nb\ufffd\n"
    assert not earlier_log(log).exists()


def test_a_log_that_cannot_be_moved_is_not_truncated(tmp_path):
    log = tmp_path / "launch.log"
    log.write_text("words\n")
    earlier_log(log).mkdir()
    with pytest.raises(OSError, match=r"launch\.log\.1"):
        move_when_long(log, 1)
    assert log.read_text() == "words\n"
