"""The example in Python of docs/real-arms.md, saved as a file and run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from arm_scenes import read_arm_scene, write_arm_scene

PAGE = Path(__file__).parents[2] / "docs" / "real-arms.md"


def test_the_example_steps_an_arm(tmp_path: Path) -> None:
    content = read_arm_scene("fr3_tabletop")
    content["arm"]["driver"] = "fake"
    write_arm_scene(tmp_path, content).rename(tmp_path / "my_scene.yaml")
    [example] = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "example.py").write_text(example)
    ran = subprocess.run(
        [sys.executable, "example.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.count("StepReport(") == 20
