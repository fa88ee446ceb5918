"""Elements that are pairs of a name and a value."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .entity import Entity

if TYPE_CHECKING:
    from .parser import Parser


def parse_pairs(
    elements: Iterable[Entity] | None, parser: Parser, keys: tuple[str, str] = ("name", "value")
) -> list[tuple[Any, Any]]:
    """Return the two attributes of each element, with substitutions, in order."""
    pairs = []
    for element in elements or ():
        first, second = (parser.parse_substitution(element.get_attr(key)) for key in keys)
        element.assert_entity_completely_parsed()
        pairs.append((first, second))
    return pairs


def split_kept(entity: Entity) -> tuple[list[Entity], list[Entity]]:
    """Return the elements `keep`, which name configurations to pass on, and the others."""
    kept = entity.get_attr("keep", data_type=list[Entity], optional=True)
    children = entity.children
    if kept is None:  # in YAML they may stand among the other elements, too
        kept = [child for child in children if child.type_name == "keep"]
    return kept, [child for child in children if child.type_name != "keep"]
