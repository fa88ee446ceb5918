"""YAML as a document with line numbers: a small, closed subset, read without ever building a Python object.

Refused: anchors and aliases (their expansion can exhaust memory), explicit tags, merge keys, duplicate or
non-text keys, more than one document, text that is not UTF-8, and files beyond the limits below. Plain scalars
follow the core schema of YAML 1.2 (https://yaml.org/spec/1.2.2/#103-core-schema): `no` and `on` are words, not
booleans, and a date is text.
"""

from __future__ import annotations

import re
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from yaml.composer import Composer
from yaml.resolver import BaseResolver

from openral_core.errors import ManifestError

MAX_BYTES = 256 * 1024
MAX_DEPTH = 24
MAX_NODES = 20_000

Key = tuple[str | int, ...]

_LIBYAML: Any = getattr(getattr(yaml, "cyaml", None), "CParser", None)
"""Parser of libyaml; None: PyYAML was built without it."""
_READ_OTHERWISE = re.compile(r"[^\n -~\u00a0-\u2027\u2030-\ud7ff]|[|>][-+0-9]*#")
"""Of a text that libyaml may take where PyYAML refuses it: tabs, control characters, a comment that begins a block."""
_TEXT_TAG = "tag:yaml.org,2002:str"
_COLLECTION_TAGS = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")
_INT = re.compile(r"[-+]?[0-9]{1,18}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_FIXES = {
    "'\\t'": "indent by spaces; YAML takes no tabs there",
    "could not find expected ':'": "write `key: value`; the colon is missing there or on the line before",
    "mapping values are not allowed here": "end the line before with a colon, or put text that holds one in quotes",
}
"""What PyYAML says of a frequent mistake -> what to do about it."""
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
    **{sign + word: float(sign + "inf") for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF")},
}


@dataclass
class Document:
    """A parsed file: its values, and where each of them stands."""

    path: Path
    data: Any = None
    lines: dict[Key, int] = field(default_factory=dict)
    """Line, counted from 1, of every key and list item."""

    def line(self, key: Key) -> int:
        """Return the line of `key`, or of the nearest ancestor that has one."""
        while key and key not in self.lines:
            key = key[:-1]
        return self.lines.get(key, 1)

    def section(self, *prefix: str | int) -> Document:
        """Return the part below a key, as a document of its own whose faults still point into this file.

        A part that is not there is one without values; a number must be within its list.
        """
        data = self.data
        for name in prefix:
            data = data[name] if isinstance(name, int) else data.get(name) if isinstance(data, dict) else None
        lines = {key[len(prefix) :]: line for key, line in self.lines.items() if key[: len(prefix)] == prefix}
        return Document(self.path, data, lines)

    def fault(self, key: Key, what: str, fix: str) -> str:
        """Return the one-line report `file:line: key: what; fix`."""
        return _fault(self.path, self.line(key), dotted(key) or "file", what, fix)


def dotted(key: Key) -> str:
    """Return `sensors_required[0].modality` for `("sensors_required", 0, "modality")`."""
    text = ""
    for part in key:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return " ".join(text.split())


def read_document(path: Path) -> Document:
    """Read and parse one file.

    Raises:
        ManifestError: the file cannot be read, or is not YAML of the accepted subset.
    """
    try:
        status = path.stat()
        if not (
            stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
        ):  # to open a pipe would wait for who writes to it
            raise ManifestError(_fault(path, 1, "file", "no file", "name a file"))
        if status.st_size > MAX_BYTES:
            raise ManifestError(
                _fault(
                    path,
                    1,
                    "file",
                    f"larger than {MAX_BYTES // 1024} KiB",
                    "a description is text; move data out",
                )
            )
        raw = path.read_bytes()
    except OSError as error:
        raise ManifestError(
            _fault(path, 1, "file", error.strerror or "unreadable", "check the path")
        ) from error
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ManifestError(_fault(path, line, "file", "not UTF-8", "save it as UTF-8")) from error
    return parse_document(text, path)


def parse_document(text: str, path: Path) -> Document:
    """Parse YAML text; `path` is only used in messages. Raises ManifestError as `read_document` does."""
    document = Document(path)
    try:
        node = _compose(text, path)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        what = " ".join((error.problem or error.context or "malformed").split())
        fix = next((fix for part, fix in _FIXES.items() if part in what), "fix the syntax there")
        raise ManifestError(_fault(path, line, "file", f"not YAML ({what})", fix)) from error
    except yaml.YAMLError as error:
        what = " ".join(str(error).split())[:120]
        raise ManifestError(_fault(path, 1, "file", f"not YAML ({what})", "fix the syntax there")) from error
    if node is not None:
        document.data = _build(node, (), document)
    return document


def _compose(text: str, path: Path) -> yaml.Node | None:
    """Return the root of the text's nodes; None: it is empty. Raises ManifestError and yaml.YAMLError.

    libyaml reads six times as fast as PyYAML, which has the last word wherever the two may differ.
    """
    if _LIBYAML is not None and not _READ_OTHERWISE.search(text):
        composer = _Composer(_LIBYAML(text), path)
        try:
            node = composer.get_single_node()
        except yaml.YAMLError:
            composer.asks = True
        if not composer.asks:
            return node
    loader = yaml.BaseLoader(text)
    try:
        return _Composer(loader, path).get_single_node()
    finally:
        loader.dispose()


class _Composer(Composer, BaseResolver):
    """PyYAML's composer with limits, over the events of a parser; it resolves no tags and builds no objects."""

    def __init__(self, parser: Any, path: Path) -> None:
        Composer.__init__(self)
        BaseResolver.__init__(self)
        self.check_event, self.peek_event = parser.check_event, parser.peek_event
        self.get_event = parser.get_event
        self._path = path
        self._depth = 0
        self._nodes = 0
        self.asks = False
        """Whether a plain scalar holds a question mark, which libyaml takes in lists, too."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event = self.peek_event()
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise ManifestError(
                _fault(self._path, line, "file", "anchors and aliases are refused", "write it out")
            )
        self.asks |= isinstance(event, yaml.ScalarEvent) and not event.style and "?" in event.value
        self._nodes += 1
        self._depth += 1
        if self._depth > MAX_DEPTH or self._nodes > MAX_NODES:
            limit = (
                f"more than {MAX_DEPTH} levels"
                if self._depth > MAX_DEPTH
                else f"more than {MAX_NODES} values"
            )
            raise ManifestError(
                _fault(self._path, line, "file", limit, "a description is small; make it flatter")
            )
        node: yaml.Node | None = super().compose_node(parent, index)
        self._depth -= 1
        return node


def _build(node: yaml.Node, key: Key, document: Document) -> Any:
    """Turn a node into plain values and note the line of each."""
    document.lines.setdefault(key, node.start_mark.line + 1)
    if isinstance(node, yaml.ScalarNode):
        return _scalar(node, key, document)
    if node.tag not in _COLLECTION_TAGS:
        raise ManifestError(document.fault(key, f"tag {node.tag[:60]} is refused", "remove the tag"))
    if isinstance(node, yaml.SequenceNode):
        return [_build(item, (*key, index), document) for index, item in enumerate(node.value)]
    values: dict[str, Any] = {}
    for name_node, value_node in node.value:
        line = name_node.start_mark.line + 1
        name = _scalar(name_node, key, document) if isinstance(name_node, yaml.ScalarNode) else None
        if not isinstance(name, str) or name == "<<":
            what = "a key must be a plain word"
            raise ManifestError(_fault(document.path, line, dotted(key) or "file", what, "write it as text"))
        if name in values:
            first = document.line((*key, name))
            what, fix = f"written twice, first on line {first}", "keep one"
            raise ManifestError(_fault(document.path, line, dotted((*key, name)), what, fix))
        document.lines[(*key, name)] = line
        values[name] = _build(value_node, (*key, name), document)
    return values


def _scalar(node: yaml.ScalarNode, key: Key, document: Document) -> Any:
    if node.tag != _TEXT_TAG:
        raise ManifestError(document.fault(key, f"tag {node.tag[:60]} is refused", "remove the tag"))
    text: str = node.value
    if node.style:  # in quotes, or a block; PyYAML says None of a plain one, and libyaml an empty text
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    return text


def _fault(path: Path, line: int, key: str, what: str, fix: str) -> str:
    return f"{path}:{line}: {key}: {what}; {fix}"
