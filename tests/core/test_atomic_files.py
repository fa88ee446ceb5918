"""Files that are replaced whole or not at all, under kills, full disks and several writers at once."""

from __future__ import annotations

import errno
import os
import resource
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from openral_core.files.atomic import replaced_file, write_atomically

SLOW_WRITER = """
import sys
from pathlib import Path
from openral_core.files.atomic import replaced_file
with replaced_file(Path(sys.argv[1])) as partial:
    with partial.open("w") as file:
        file.write("half")
        file.flush()
        print(partial, flush=True)
        sys.stdin.readline()
        file.write(" and half")
"""
REPEATED_WRITER = """
import sys
from pathlib import Path
from openral_core.files.atomic import write_atomically
for _ in range(60):
    write_atomically(Path(sys.argv[1]), sys.argv[2] * 100_000)
"""


class SlowWriter:
    """A process that has written half of a file."""

    def __init__(self, path: Path) -> None:
        command = [sys.executable, "-c", SLOW_WRITER, str(path)]
        self.process = subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        self.partial = Path(self.process.stdout.readline().strip())

    def finish(self) -> None:
        self.process.communicate("go on\n")
        assert self.process.returncode == 0

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()
        assert self.process.returncode == -signal.SIGKILL


@pytest.fixture
def target(tmp_path: Path) -> Path:
    path = tmp_path / "state.json"
    path.write_text("before")
    return path


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "full"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=128k", "none", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount a small disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def test_text_and_bytes_are_written_as_they_are(target: Path) -> None:
    write_atomically(target, "größer\r\n")
    assert target.read_bytes() == "größer\r\n".encode()
    write_atomically(target, memoryview(b"\x00\xff"))
    assert target.read_bytes() == b"\x00\xff"
    assert names(target.parent) == [target.name]


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_the_umask_decides_who_may_read(target: Path, umask: int, mode: int) -> None:
    before = os.umask(umask)
    try:
        write_atomically(target, "after")
    finally:
        os.umask(before)
    assert stat.S_IMODE(target.stat().st_mode) == mode


def test_a_private_file_is_private_from_its_first_byte(target: Path) -> None:
    before = os.umask(0)
    try:
        with replaced_file(target, private=True) as partial:
            partial.write_text("after")
            assert stat.S_IMODE(partial.stat().st_mode) == 0o600
    finally:
        os.umask(before)
    assert (target.read_text(), stat.S_IMODE(target.stat().st_mode)) == ("after", 0o600)


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_leaves_the_former_file_and_nothing_else(target: Path, error: type[BaseException]) -> None:
    def write() -> None:
        with replaced_file(target) as partial:
            partial.write_text("half")
            raise error

    with pytest.raises(error):
        write()
    assert (target.read_text(), names(target.parent)) == ("before", [target.name])


def test_a_missing_folder_is_named_by_the_path_that_was_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "state.json"
    with pytest.raises(FileNotFoundError) as failure:
        write_atomically(path, "after")
    assert failure.value.filename == str(path)


def test_a_folder_is_not_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(IsADirectoryError):
        write_atomically(folder, "after")
    assert names(tmp_path) == ["folder"]


def test_a_file_beyond_the_limit_of_the_process_leaves_the_former_one(target: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        with pytest.raises(OSError) as failure:  # noqa: PT011
            write_atomically(target, bytes(5000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert failure.value.errno == errno.EFBIG
    assert (target.read_text(), names(target.parent)) == ("before", [target.name])


@pytest.mark.parametrize("durable", [False, True])
def test_a_full_disk_leaves_the_former_file_and_no_garbage(full_disk: Path, durable: bool) -> None:
    path = full_disk / "state.json"
    path.write_text("before")
    with pytest.raises(OSError) as failure:  # noqa: PT011
        write_atomically(path, bytes(256 * 1024), durable=durable)
    assert failure.value.errno == errno.ENOSPC
    assert (path.read_text(), names(full_disk)) == ("before", ["state.json"])
    write_atomically(path, "after", durable=durable)
    assert path.read_text() == "after"


def test_a_killed_writer_leaves_the_former_file_and_the_next_one_tidies_up(target: Path) -> None:
    other = target.with_name(f".{target.name}.notes.partial")
    other.write_text("of somebody else")
    writer = SlowWriter(target)
    writer.kill()
    assert (target.read_text(), writer.partial.read_text()) == ("before", "half")
    write_atomically(target, "after")
    assert target.read_text() == "after"
    assert names(target.parent) == sorted([target.name, other.name])


def test_a_writer_at_work_is_left_alone_and_the_last_one_to_finish_stands(target: Path) -> None:
    slow = SlowWriter(target)
    try:
        write_atomically(target, "meanwhile")
        assert target.read_text() == "meanwhile"
        slow.finish()
    finally:
        slow.process.kill()
        slow.process.wait()
    assert (target.read_text(), names(target.parent)) == ("half and half", [target.name])


def test_readers_never_see_half_a_file_while_processes_write_at_once(target: Path) -> None:
    write_atomically(target, "a" * 100_000)
    writers = [
        subprocess.Popen([sys.executable, "-c", REPEATED_WRITER, str(target), letter]) for letter in "abc"
    ]
    seen: set[str] = set()
    while any(writer.poll() is None for writer in writers):
        text = target.read_text()
        assert len(text) == 100_000
        assert text == text[0] * 100_000
        seen.add(text[0])
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    assert len(seen) > 1
    assert names(target.parent) == [target.name]


def test_a_durable_file_is_on_the_disk_before_its_name_and_its_name_before_the_return(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[bool, str]] = []
    fsync = os.fsync

    def observed(descriptor: int) -> None:
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        synced.append((is_folder, target.read_text()))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", observed)
    write_atomically(target, "between")
    assert synced == []
    target.write_text("before")
    write_atomically(target, "after", durable=True)
    assert synced == [(False, "before"), (True, "after")]
