"""The rules of a `CMakeLists.txt` that install files without a compiler.

It does not evaluate conditions and loops: all calls inside `if` are applied. Variables are those of `set` and
`project`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_CALL = re.compile(r"(\w+)\s*\(")
_WORD = re.compile(r'"((?:[^"\\]|\\.)*)"|([^\s()"]+)')
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_KINDS = ("FILES", "PROGRAMS", "DIRECTORY", "TARGETS", "EXPORT", "CODE", "SCRIPT")
_OPTIONS = ("DESTINATION", "RENAME", "PATTERN", "REGEX", "PERMISSIONS", "COMPONENT", "CONFIGURATIONS")


@dataclass
class CMakeRules:
    """Files and Python packages to install.

    Attributes:
        copies: triples of a path below the package's folder, a path below the prefix, and whether files
            become executable; a path that ends with a slash stands for the content of the folder.
        python: pairs of the name of a Python package or module and its path below the package's folder.
        setup_files: for each of these Python packages the path of its `setup.cfg`, which need not be there,
            and the folder below the prefix for its programs, empty for none.
        has_interfaces: whether interfaces are generated.
        compiled: names of the programs and libraries that need a compiler.
    """

    copies: list[tuple[str, str, bool]] = field(default_factory=list)
    python: list[tuple[str, str]] = field(default_factory=list)
    setup_files: dict[str, tuple[str, str]] = field(default_factory=dict)
    has_interfaces: bool = False
    compiled: list[str] = field(default_factory=list)


def calls(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the name in lower case and the arguments of each call in a text, with variables substituted."""
    text = re.sub(r"#\[\[.*?\]\]|#[^\n]*", "", text, flags=re.DOTALL)
    variables = {"CMAKE_INSTALL_PREFIX": "", "CMAKE_CURRENT_SOURCE_DIR": ".", "CMAKE_SOURCE_DIR": "."}
    position = 0
    while (match := _CALL.search(text, position)) is not None:
        end = _closing(text, match.end())
        words = [quoted or plain for quoted, plain in _WORD.findall(text[match.end() : end])]
        words = [part for word in words for part in _expand(word, variables).split(";") if part]
        name, position = match[1].lower(), end + 1
        if name == "project" and words:
            variables["PROJECT_NAME"] = variables["CMAKE_PROJECT_NAME"] = words[0]
        elif name == "set" and words:
            variables[words[0]] = ";".join(words[1:])
        yield name, words


def _closing(text: str, start: int) -> int:
    depth = 1
    for index in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[index], 0)
        if depth == 0:
            return index
    return len(text)


def _expand(word: str, variables: dict[str, str]) -> str:
    return _VARIABLE.sub(lambda match: variables.get(match[1], ""), word)


def read_rules(path: Path) -> CMakeRules:
    """Return the rules of a `CMakeLists.txt`."""
    rules = CMakeRules()
    for name, words in calls(path.read_text("utf-8", "replace")):
        if name == "install" and words and words[0] in _KINDS:
            _read_install(words, rules)
        elif name == "ament_python_install_package" and words:
            folder = _option(words, "PACKAGE_DIR") or words[0]
            rules.python.append((words[0], folder))
            setup_file = _option(words, "SETUP_CFG") or f"{Path(folder).parent}/setup.cfg"
            rules.setup_files[words[0]] = (setup_file, _option(words, "SCRIPTS_DESTINATION").strip("/"))
        elif name == "ament_python_install_module" and words:
            rules.python.append((Path(words[0]).stem, words[0]))
        elif name == "rosidl_generate_interfaces":
            rules.has_interfaces = True
        elif name in ("add_executable", "add_library") and words:
            rules.compiled.append(words[0])
    return rules


def _option(words: list[str], name: str) -> str:
    """Return the word after an option, empty without it."""
    return words[words.index(name) + 1] if name in words[:-1] else ""


def _read_install(words: list[str], rules: CMakeRules) -> None:
    kind, *rest = words
    if kind not in ("FILES", "PROGRAMS", "DIRECTORY") or "DESTINATION" not in rest[:-1]:
        return
    destination = rest[rest.index("DESTINATION") + 1].strip("/")
    stop = min(rest.index(option) for option in _OPTIONS if option in rest)
    rename = rest[rest.index("RENAME") + 1] if "RENAME" in rest[:-1] else None
    for source in rest[:stop]:
        if kind == "DIRECTORY":
            name = "" if source.endswith("/") else Path(source).name
            rules.copies.append((source, f"{destination}/{name}".rstrip("/"), False))
        else:
            rules.copies.append((source, f"{destination}/{rename or Path(source).name}", kind == "PROGRAMS"))
