"""The Tab key in a real bash: verbs, options, and the names that an option takes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TYPED = """
source <(openral --show-completion bash)
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_openral_completion openral
printf '%s\\n' "${COMPREPLY[@]}"
"""


def offered(*words: str, home: Path) -> list[str]:
    """Return what bash offers after `openral` and these words, the last of which is half typed."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    environment = {**os.environ, "PATH": path, "OPENRAL_CACHE_HOME": str(home)}
    command = ["bash", "--norc", "-c", TYPED, "bash", "openral", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["dep"], ["deploy"]),
        (["benchmark", "run", "--upd"], ["--update-manifest"]),
        (["deploy", "sim", "--config", "metaworld_draw"], ["metaworld_drawer"]),
        (["deploy", "robot", "--config", "metaworld"], []),
        (["benchmark", "scene", "--rskill", "robom"], ["robometer-4b-nf4"]),
        (["train", "bc", "--recipe", "mini_det"], []),
        (["train", "detector", "--recipe", "mini_det"], ["mini_detector", "mini_detector_robosuite"]),
    ],
)
def test_tab_offers_what_fits(tmp_path: Path, words: list[str], expected: list[str]) -> None:
    assert offered(*words, home=tmp_path) == expected


def test_a_fetched_skill_is_offered_by_the_name_of_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "rskills" / "skills" / "someone--rskill-pour"
    folder.mkdir(parents=True)
    (folder / "rskill.yaml").write_text("")
    assert offered("rskill", "check", "someone", home=tmp_path) == ["someone--rskill-pour"]
