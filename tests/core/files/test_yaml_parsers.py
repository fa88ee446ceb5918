"""The fast parser and PyYAML's own read a file alike, and say the same of one that they refuse."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import yaml

from openral_core.errors import ManifestError
from openral_core.files import yaml_document
from openral_core.files.share import share_directory

ODD = (
    *":-?[]{},#&*!|>'\"@`\t\n\r \x07\u2028\u00e9\ufeff~",
    "---\n",
    "? ",
    "- ",
    "key: ",
    "!!str ",
    "|2\n",
    " # x",
    "0",
)


def read(text: str) -> Any:
    try:
        document = yaml_document.parse_document(text, Path("x.yaml"))
    except ManifestError as error:
        return str(error)
    return repr(document.data), document.lines


def read_by_both(text: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any]:
    fast = read(text)
    with monkeypatch.context() as without:
        without.setattr(yaml_document, "_LIBYAML", None)
        return fast, read(text)


def test_the_fast_parser_is_there_where_pyyaml_has_it() -> None:
    assert (yaml_document._LIBYAML is not None) == yaml.__with_libyaml__


@pytest.mark.parametrize(
    "text",
    [
        "a: [is it?, b]",
        "a: {is it?: b}",
        "a: is it?",
        "a: ['is it?', b]",
        "? a\n: b",
        "a: [b\t]",
        "a:\n\tb: c",
        "a: b\r\nc: d",
        "a: '1'\nb: 1\nc: 1.5\nd: ''\ne:\nf: |\n  12\n",
        "a: |# no comment",
        "a: b\n c: d",
        "a: [b, c",
        "a: &b c\nd: *b",
        "!!str a: b",
        "a: b\n--- \nc: d",
    ],
)
def test_both_parsers_say_the_same(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fast, slow = read_by_both(text, monkeypatch)
    assert fast == slow


def test_both_parsers_say_the_same_of_files_that_somebody_mistyped(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(5)
    texts = [path.read_text()[:800] for path in sorted((share_directory() / "scenes").rglob("*.yaml"))]
    refused = 0
    for _ in range(100):
        text = chance.choice(texts)
        for _ in range(chance.randrange(3)):
            place = chance.randrange(len(text))
            text = text[:place] + chance.choice(ODD) + text[place + chance.randrange(2) :]
        fast, slow = read_by_both(text, monkeypatch)
        assert fast == slow, text
        refused += isinstance(fast, str)
    assert 10 < refused < 90
