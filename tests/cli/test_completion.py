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
    "benchmark run --upd": ["--update-manifest"],
    "deploy sim --config metaworld_draw": ["metaworld_drawer"],
    "deploy robot --config metaworld": [],
    "benchmark scene --rskill robom": ["robometer-4b-nf4"],
    "train bc --recipe mini_det": [],
    "train detector --recipe mini_det": ["mini_detector", "mini_detector_robosuite"],
    "rskill check someone": ["someone--rskill-pour"],
}
"""What is typed after `openral`, and what is offered; the last is a skill that was fetched, by its folder's name."""


@pytest.fixture(scope="module")
def offered(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What bash offers for each of what is typed."""
    home = tmp_path_factory.mktemp("home")
    folder = home / "rskills" / "skills" / "someone--rskill-pour"
    folder.mkdir(parents=True)
    (folder / "rskill.yaml").write_text("")
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    environment = {**os.environ, "PATH": path, "OPENRAL_CACHE_HOME": str(home)}
    command = ["bash", "--norc", "-c", TYPED, "bash", *(f"openral {typed}" for typed in CASES)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return dict(zip(CASES, map(str.split, done.stdout.splitlines()), strict=True))


@pytest.mark.parametrize("typed", CASES)
def test_tab_offers_what_fits(offered: dict[str, list[str]], typed: str) -> None:
    assert offered[typed] == CASES[typed]
