"""The table of public names in docs/conformance.md against the modules."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "conformance.md"
ROW = re.compile(r"^\| `([\w.]+)` \| ([\w ]+) \|$", re.MULTILINE)


def rows() -> list[tuple[str, list[str]]]:
    text = PAGE.read_text() if PAGE.exists() else ""
    return [(module, names.split()) for module, names in ROW.findall(text.partition("## Public names")[2])]


pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the page lies in the project's repository")


def test_the_page_has_the_table() -> None:
    assert {"rclpy.node", "launch.actions", "launch_ros.actions", "tf2_ros"} <= {
        module for module, _ in rows()
    }


@pytest.mark.parametrize(("module", "names"), rows(), ids=[module for module, _ in rows()])
def test_names(module: str, names: list[str]) -> None:
    loaded = importlib.import_module(module)
    assert [name for name in names if not hasattr(loaded, name)] == []
    exported = getattr(loaded, "__all__", None)
    if exported is not None:
        assert sorted(names) == sorted(name for name in exported if not name.startswith("_"))
