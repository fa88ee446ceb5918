"""Each promise of SECURITY.md names tests that exist, and so does every page that names one."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "SECURITY.md").read_text()
PROMISES = re.findall(r"^\| ([^|]+) \| (`[^|]*::[^|]*`) \|$", PAGE, re.MULTILINE)


def names_in(file: Path) -> set[str]:
    """The names of the test functions of a file, also of those in classes."""
    nodes = ast.walk(ast.parse(file.read_text()))
    functions = (node for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
    return {function.name for function in functions if function.name.startswith("test_")}


def test_every_row_is_a_promise_with_its_tests() -> None:
    section = PAGE.partition("## What is promised")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")]
    assert len(rows) - 1 == len(PROMISES) >= 15


@pytest.mark.parametrize(("promise", "names"), PROMISES)
def test_the_tests_of_a_promise_exist(promise: str, names: str) -> None:
    for name in re.findall(r"`([^`]+)`", names):
        path, _, test = name.partition("::")
        assert (ROOT / path).is_file(), f"{promise}: {path} is gone"
        assert test in names_in(ROOT / path), f"{promise}: {path} has no {test}"


def test_the_tests_that_pages_name_exist() -> None:
    """A page names a file as `tests/…/test_x.py`, and a function of it behind `::`; `…::` is the file named last."""
    missing, named = [], 0
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        path = ""
        root = ROOT / "ros2_embedded" if page.name == "conformance.md" else ROOT
        for file, test in re.findall(
            r"`((?:ros2_embedded/)?tests/[\w/]+\.py|…)(?:::(\w+))?`", page.read_text()
        ):
            path, named = (path if file == "…" else file), named + 1
            exists = (root / path).is_file() and (not test or test in names_in(root / path))
            missing += [] if exists else [f"{page.name}: {path} {test}"]
    assert named >= 20
    assert missing == []


def test_every_page_that_is_linked_exists() -> None:
    links = re.findall(r"\]\((?!https?://|#)([^)#\s]+)", PAGE)
    assert links
    assert [link for link in links if not (ROOT / link).is_file()] == []


def test_nobody_is_named_who_might_not_read_it() -> None:
    assert not re.search(r"[\w.+-]+@[\w-]+\.\w+", PAGE)
    assert "Report a vulnerability" in PAGE
