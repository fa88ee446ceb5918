"""Where commands write: tried before the work, refused in one line, and nothing of the trial is left."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from openral_cli import app as cli
from openral_core.errors import OpenralError, OutputError
from openral_core.files.output_folder import check_file, check_folder, make_private

RUNNER = CliRunner()
NOBODY = 65534
PATIENCE_S = 120.0

COMMANDS: dict[str, list[str]] = {
    "benchmark run": ["benchmark", "run", "--suite", "metaworld_mini", "--rskill", "mini-metaworld", "--out"],
    "deploy sim": ["deploy", "sim", "--config", "metaworld_drawer", "--run-dir"],
    "rskill new": ["rskill", "new", ".", "BAD"],
    "rskill convert": ["rskill", "convert", ".", "BAD"],
    "scene check": ["scene", "check", "metaworld_drawer", "--pictures"],
    "sim run": ["sim", "run", "--save-dir"],
    "train collect": ["train", "collect", "--out"],
    "train bc": ["train", "bc", "--dataset", "nowhere", "--out"],
    "train reward": ["train", "reward", "--dataset", "nowhere", "--out"],
    "train rl": ["train", "rl", "--config", "metaworld_ppo", "--out"],
    "train world-model": ["train", "world-model", "--dataset", "nowhere", "--out"],
    "world-model collect": ["world-model", "collect", "--config", "drawer_ppo", "--out"],
    "world-model eval": ["world-model", "eval", ".", "--dataset", "nowhere", "--out"],
}
"""Those that make a folder; the bad place takes the place of BAD, or comes last."""
FILES: dict[str, list[str]] = {
    "reasoner ablation": ["reasoner", "ablation", "--out"],
    "reasoner eval": ["reasoner", "eval", "--out"],
    "reward eval": ["reward", "eval", "--rskill", "mini-progress", "--out"],
    "memory add": ["memory", "add", "a note", "--file"],
    "rskill convert": ["rskill", "convert", __file__, "BAD"],
}
"""Those that write one file."""


@pytest.fixture(
    params=[
        "file",
        *(
            pytest.param(place, marks=pytest.mark.slow)
            for place in (
                "proc",
                "below proc",
                "below a file",
                "pipe",
                "device",
                "below a device",
                "dangling",
            )
        ),
    ]
)
def bad(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A path that can be no folder."""
    file, pipe, link = tmp_path / "file", tmp_path / "pipe", tmp_path / "link"
    file.write_text("mine")
    os.mkfifo(pipe)
    link.symlink_to(tmp_path / "gone")
    return {
        "proc": Path("/proc/nope"),
        "below proc": Path("/proc/nope/below"),
        "file": file,
        "pipe": pipe,
        "below a file": file / "x",
        "device": Path("/dev/full"),
        "below a device": Path("/dev/null/x"),
        "dangling": link,
    }[request.param]


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A mounted file system without room."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=128k", "none", str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        pytest.skip(f"no mount here: {error}")
    if done.returncode:
        pytest.skip(f"mounting is not permitted here: {done.stderr.strip()}")
    filler = folder / "filler"
    try:
        filler.write_bytes(bytes(96 * 1024))
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def invoke(words: list[str], place: Path) -> OpenralError:
    """Run a command that is to refuse a place, and return its error."""
    given = [str(place) if word == "BAD" else word for word in words]
    done = RUNNER.invoke(cli.app, given if "BAD" in words else [*words, str(place)])
    assert isinstance(done.exception, OutputError), f"{done.exception!r}\n{done.output}"
    return done.exception


@pytest.mark.parametrize("name", COMMANDS)
def test_a_folder_that_cannot_be_is_one_line(name: str, bad: Path) -> None:
    text = str(invoke(COMMANDS[name], bad))
    assert str(bad) in text
    assert "; name " in text
    assert "\n" not in text


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_cannot_be_is_one_line(name: str, tmp_path: Path) -> None:
    pipe, folder = tmp_path / "pipe.safetensors", tmp_path / "folder"
    os.mkfifo(pipe)
    folder.mkdir()
    for place in (
        pipe,
        folder,
        Path("/dev/full"),
        Path("/dev/null/x"),
        Path("/proc/nope"),
        Path("/proc/nope/x.json"),
    ):
        text = str(invoke(FILES[name], place))
        assert str(place) in text or str(place.parent) in text
        assert "\n" not in text
    assert os.listdir(folder) == []


def test_nothing_is_left_of_the_trial(tmp_path: Path) -> None:
    assert check_folder(tmp_path / "a" / "b", "--out") == tmp_path / "a" / "b"
    assert check_file(tmp_path / "c" / "d.json", "--out") == tmp_path / "c" / "d.json"
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").write_text("mine")
    check_folder(tmp_path / "there", "--out")
    check_file(tmp_path / "there" / "file", "--out")
    assert (tmp_path / "there" / "file").read_text() == "mine"


def test_a_full_disk_is_told_before_anything_is_made(full_disk: Path) -> None:
    for name, words in COMMANDS.items():
        text = str(invoke(words, full_disk / "run"))
        assert "No space left on device; free some space there, or name another place" in text, name
    assert [path.name for path in full_disk.iterdir()] == ["filler"]


def test_a_disk_that_becomes_full_is_one_line(full_disk: Path) -> None:
    """The folder has room for the trial; what is written afterwards has none."""
    (full_disk / "filler").write_bytes(bytes(40 * 1024))
    code = (
        "import sys, pathlib; from openral_cli import app\n"
        "def write(): pathlib.Path(sys.argv[1]).write_bytes(bytes(1 << 20))\n"
        "app.app = write; app.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(full_disk / "rows")],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 1
    assert done.stderr == "error: No space left on device; free some space there, or name another place\n"


def test_a_bug_is_still_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise FileNotFoundError(2, "No such file or directory", "something")

    monkeypatch.setattr(cli, "app", broken)
    with pytest.raises(FileNotFoundError):
        cli.main()


def test_what_another_user_owns_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o755)
    (folder / "file").touch(mode=0o644)
    code = (
        "import os, sys, pathlib\n"
        "from openral_core.errors import OutputError\n"
        "from openral_core.files.output_folder import check_file, check_folder\n"
        "if os.getuid() == 0: os.setuid(int(sys.argv[2]))\n"
        "else: os.chmod(sys.argv[1], 0o555); os.chmod(sys.argv[1] + '/file', 0o444)\n"
        "folder = pathlib.Path(sys.argv[1])\n"
        "for check, path in ((check_folder, folder), (check_folder, folder / 'new'), (check_file, folder / 'file')):\n"
        "    try: check(path, '--out')\n"
        "    except OutputError as error: print(error)\n"
    )
    for parent in [folder, *folder.parents]:  # pytest's own folders let nobody else through
        if os.getuid() == 0 and parent.is_relative_to(tmp_path.parents[2]) and parent != tmp_path.parents[2]:
            parent.chmod(0o755)
    command = [sys.executable, "-c", code, str(folder), str(NOBODY)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert done.stderr == ""
    assert done.stdout.count("Permission denied; name a") == 3, done.stdout


def test_a_run_folder_is_private_and_one_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    made, mine = tmp_path / "runs" / "one", tmp_path / "mine"
    make_private(made)
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    assert stat.S_IMODE(made.parent.stat().st_mode) != 0o700
    mine.mkdir(mode=0o755)
    mine.chmod(0o755)
    make_private(mine)
    assert stat.S_IMODE(mine.stat().st_mode) == 0o755
