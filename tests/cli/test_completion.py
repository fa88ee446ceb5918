"""The Tab key in a real bash: verbs, options, and the names that an option takes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TYPED = """
source <(openral --show-completion bash)
for line in "$@"; do
  COMP_WORDS=($line) COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMPREPLY=()
  _openral_completion openral
  printf '%s\\n' "${COMPREPLY[*]}"
done
"""
CASES = {
    "dep": ["deploy"],
    "deploy sim --config metaworld_draw": ["metaworld_drawer"],
    "train bc --recipe mini_det": [],
    "rskill check someone": ["someone--rskill-pour"],
}
"""What is typed after `openral`, and what is offered; the last is a skill that was fetched, by its folder's name."""
MORE = {
    "benchmark run --upd": ["--update-manifest"],
    "deploy robot --config metaworld": [],
    "benchmark scene --rskill robom": ["robometer-4b-nf4"],
    "train detector --recipe mini_det": ["mini_detector", "mini_detector_robosuite"],
}


@pytest.mark.parametrize("cases", [CASES, pytest.param(MORE, marks=pytest.mark.slow)], ids=["some", "more"])
def test_tab_offers_what_fits(tmp_path: Path, cases: dict[str, list[str]]) -> None:
    folder = tmp_path / "rskills" / "skills" / "someone--rskill-pour"
    folder.mkdir(parents=True)
    (folder / "rskill.yaml").write_text("")
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    environment = {**os.environ, "PATH": path, "OPENRAL_CACHE_HOME": str(tmp_path)}
    command = ["bash", "--norc", "-c", TYPED, "bash", *(f"openral {typed}" for typed in cases)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert dict(zip(cases, map(str.split, done.stdout.splitlines()), strict=True)) == cases
