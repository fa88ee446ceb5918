"""What a command can refuse without torch or a simulator it refuses before they are loaded, which takes seconds."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

COMMANDS = (
    "train collect --recipe nope --out OUT",
    "train bc --dataset /nope --out OUT",
    "train reward --dataset /nope --out OUT",
    "train detector --recipe nope --out OUT",
    "train world-model --dataset /nope --out OUT",
    "train planner --out /proc/nope",
    "train rl --config nope --out OUT",
    "train rl --config reach_ci --out /proc/nope",
    "train dagger --config nope --out OUT",
    "world-model collect --config nope --out OUT",
    "world-model eval OUT --dataset /nope",
    "reward eval --rskill mini-progress --recipe nope",
    "detector eval --rskill mini-detector --recipe nope",
)
RUN_ALL = """
import json, sys
from typer.testing import CliRunner
from openral_cli.app import app
for line in sys.argv[1:]:
    error = CliRunner().invoke(app, line.split()).exception
    heavy = [name for name in ("torch", "mujoco") if name in sys.modules]
    print(json.dumps([line, type(error).__name__, str(error), heavy]))
"""


def test_what_needs_no_library_is_told_before_any_is_loaded(tmp_path: Path) -> None:
    lines = [line.replace("OUT", str(tmp_path / "out")) for line in COMMANDS]
    done = subprocess.run(
        [sys.executable, "-c", RUN_ALL, *lines], capture_output=True, text=True, check=True, timeout=120
    )
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line for line, *_ in told] == lines
    for line, kind, text, heavy in told:
        assert kind in {"OutputError", "NotFoundError", "ManifestError", "DatasetError"}, (line, text)
        assert heavy == [], line
