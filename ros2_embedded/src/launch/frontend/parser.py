"""From elements to actions."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable
from functools import lru_cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ..launch_description import LaunchDescription
from ..substitution import Substitution
from .entity import Entity
from .errors import InvalidFrontendLaunchFileError
from .expose import action_parse_methods
from .parse_substitution import parse_if_substitutions, parse_substitution

if TYPE_CHECKING:
    from ..action import Action

PARSERS_GROUP = "launch.frontend.parser"
EXTENSIONS_GROUP = "launch.frontend.launch_extension"
_BUNDLED_PARSERS = ("launch_xml", "launch_yaml")
_BUNDLED_EXTENSIONS = ("launch_ros",)


class Parser:
    """Turns the elements of a launch file into a description; formats derive from it."""

    @classmethod
    def load(cls, file: str | IO[str]) -> tuple[Entity, Parser]:
        """Return the root element and a parser of its format.

        Args:
            file: path of the file, or an open text file; each format is tried where the name does not tell.

        Raises:
            InvalidFrontendLaunchFileError: no format reads the file.
        """
        name = file if isinstance(file, str) else str(getattr(file, "name", ""))
        parsers = parser_implementations()
        suffix = Path(name).suffix[1:]
        fitting = [parser for parser in parsers if suffix in parser.get_file_extensions()] or parsers
        problems = []
        for parser in fitting:
            try:
                if isinstance(file, str):
                    with open(file, encoding="utf-8") as opened:
                        return parser.load(opened)
                file.seek(0)
                return parser.load(file)
            except InvalidFrontendLaunchFileError as error:
                problems.append(str(error))
        raise InvalidFrontendLaunchFileError(f"cannot read launch file '{name}': {'; '.join(problems)}")

    @classmethod
    def get_file_extensions(cls) -> set[str]:
        """Return the file name extensions of the format, without dot."""
        return set()

    @classmethod
    def get_file_extensions_from_parsers(cls) -> set[str]:
        """Return the extensions of all formats."""
        return {suffix for parser in parser_implementations() for suffix in parser.get_file_extensions()}

    def parse_action(self, entity: Entity) -> Action:
        """Return the action an element stands for; raise RuntimeError for an unknown tag."""
        load_extensions()
        name = entity.type_name
        if name not in action_parse_methods:
            raise RuntimeError(f"unknown tag '{name}'; known: {', '.join(sorted(action_parse_methods))}")
        action_type, keywords = action_parse_methods[name](entity, self)
        entity.assert_entity_completely_parsed()
        action: Action = action_type(**keywords)
        return action

    def parse_substitution(self, value: str) -> list[Substitution]:
        """Return text with `$(name ...)` in it as substitutions."""
        load_extensions()
        return parse_substitution(value)

    def parse_if_substitutions(self, value: Any) -> Any:
        """Return text as substitutions, or as it is when it holds none; see `parse_substitution`."""
        load_extensions()
        return parse_if_substitutions(value)

    def escape_characters(self, value: str) -> str:
        """Return text that holds no substitutions without its backslashes."""
        return re.sub(r"\\(.)", r"\1", value)

    def parse_description(self, entity: Entity) -> LaunchDescription:
        """Return the description of a root element."""
        if entity.type_name != "launch":
            raise RuntimeError(f"the root element must be 'launch', not '{entity.type_name}'")
        entity.get_attr("version", optional=True)  # of the grammar; there is only one
        reason = entity.get_attr("deprecated", optional=True)
        description = LaunchDescription(
            [self.parse_action(child) for child in entity.children], deprecated_reason=reason
        )
        entity.assert_entity_completely_parsed()
        return description


@lru_cache(maxsize=1)
def load_extensions() -> None:
    """Import the modules that expose actions and substitutions."""
    importlib.import_module("launch.actions")
    for module in (*_BUNDLED_EXTENSIONS, *_entry_point_modules(EXTENSIONS_GROUP)):
        importlib.import_module(module)


@lru_cache(maxsize=1)
def parser_implementations() -> list[type[Parser]]:
    """Return the parser of each format, the bundled ones first."""
    bundled = [importlib.import_module(module).Parser for module in _BUNDLED_PARSERS]
    others = [point.load() for point in entry_points(group=PARSERS_GROUP)]
    return list(dict.fromkeys([*bundled, *others]))


def _entry_point_modules(group: str) -> Iterable[str]:
    return (point.module for point in entry_points(group=group))


def description_from_markup(path: str, parser_type: type[Parser] = Parser) -> LaunchDescription:
    """Return the description in a launch file, by default of the format that its name tells.

    Raises:
        InvalidFrontendLaunchFileError: the file holds none; the text names the file.
    """
    root, parser = parser_type.load(path)
    try:
        return parser.parse_description(root)
    except (AttributeError, RuntimeError, TypeError, ValueError) as error:
        raise InvalidFrontendLaunchFileError(f"launch file '{path}': {error}") from error
