"""What a process imports is no matter of its garbage collector, neither while it runs nor when it ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TELL_AT_THE_END = "import atexit, gc, sys; atexit.register(lambda: print('kept', gc.get_freeze_count()));"
"""Printed after all that a program itself registers for its end."""


def kept(code: str) -> tuple[list[str], int]:
    """Run a program; return what it printed, and how many objects the collector left alone in the end."""
    done = subprocess.run(
        [sys.executable, "-c", TELL_AT_THE_END + code],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    *printed, last = done.stdout.splitlines()
    return printed, int(last.removeprefix("kept "))


@pytest.mark.slow
def test_a_program_is_loaded_and_ends_without_a_collection_and_collects_in_between() -> None:
    program = "sys.argv = ['openral', 'rskill', 'list'];"
    end = "import openral_cli.app; openral_cli.app.main()"
    printed, count = kept(program + end)
    assert any("mini-metaworld" in line for line in printed)
    assert count > 10_000
    watch = "atexit.register(lambda: print('enabled', gc.isenabled()));"
    printed, _ = kept(watch + program + end)
    assert printed[-1] == "enabled True"


def test_a_node_of_an_entry_point_runs_with_the_collector_and_its_imports_are_left_alone(
    tmp_path: Path,
) -> None:
    report = "print('enabled', gc.isenabled(), gc.get_freeze_count() > 10_000)"
    (tmp_path / "imports_much.py").write_text(f"import gc, numpy\ndef main():\n    {report}\n")
    folder = tmp_path / "much-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: much\nVersion: 1\n")
    (folder / "entry_points.txt").write_text("[ros2_embedded.executables]\nmuch.node = imports_much:main\n")
    run = f"sys.path.insert(0, {str(tmp_path)!r}); from ros2_embedded.run import main; main(['much', 'node'])"
    printed, _ = kept(run)
    assert printed == ["enabled True True"]


@pytest.mark.parametrize("was", [True, False])
def test_code_of_a_plug_in_is_loaded_without_a_collection(was: bool) -> None:
    printed, count = kept(
        f"gc.enable() if {was} else gc.disable();"
        "from openral_core.plugin_table import load_plugin;"
        "before = gc.get_freeze_count();"
        "load_plugin('some.group', {'queue': 'concurrent.futures.process:ProcessPoolExecutor'}, 'queue');"
        "print(before, gc.isenabled())"
    )
    assert printed == [f"0 {was}"]
    assert count > 1000
