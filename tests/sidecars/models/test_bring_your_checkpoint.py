"""The page for those who bring a checkpoint, typed from top to bottom with a tiny one."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "bring-your-checkpoint.md"


def test_the_page_leads_to_a_running_skill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("page_runner", ROOT / "tests" / "docs" / "test_pages.py")
    assert spec is not None
    assert spec.loader is not None
    pages = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "page_runner", pages)  # its dataclass looks itself up there
    spec.loader.exec_module(pages)
    monkeypatch.setattr(pages, "COMMAND_S", 1800)
    pages.test_every_command_of_the_page_works(PAGE, tmp_path)

    result = json.loads((ROOT / "runs" / "bring" / "sim" / "result.json").read_text())
    [task] = json.loads((ROOT / "runs" / "bring" / "deploy" / "summary.json").read_text())["tasks"]
    assert result["skill"] == "local/rskill-open-drawer 0.1.0"
    assert [episode["steps"] for episode in result["episodes"]] == [100]
    assert task["skill"] == "local/rskill-open-drawer"
    assert task["steps"] == 480  # six seconds at 80 Hz, none held back
