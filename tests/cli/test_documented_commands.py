"""The parser accepts every `openral` command of the pages, whose running takes longer than `make test` has.

A command that may fail (`openral … || true`) would hide an option that is no longer there; here it does not.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests" / "docs"))

from test_pages import PAGES, blocks, parses  # noqa: E402  they lie in the folder above

COMMANDS = [
    pytest.param(command, id=f"{page.relative_to(ROOT)}: {command}")
    for page in PAGES
    for block in blocks(page)
    for command in block.commands()
    if block.how == "long" or shlex.split(command)[:1] == ["openral"]
]


@pytest.mark.parametrize("command", COMMANDS)
def test_its_words_are_those_of_the_command_line(command: str) -> None:
    parses(command)
