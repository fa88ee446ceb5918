"""Looking at a description without running it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .launch_description import LaunchDescription
from .launch_description_entity import LaunchDescriptionEntity, description_of

if TYPE_CHECKING:
    from .actions.declare_launch_argument import DeclareLaunchArgument
    from .actions.include_launch_description import IncludeLaunchDescription


def walk(
    entity: LaunchDescriptionEntity, conditional: bool = False, *, until_reset: bool = False
) -> Iterator[tuple[LaunchDescriptionEntity, bool]]:
    """Yield each entity that can be known without a context, depth first, and whether it hangs on a
    condition; with `until_reset` nothing that stands behind a `ResetLaunchConfigurations` beside it."""
    from .actions.reset_launch_configurations import ResetLaunchConfigurations

    yield entity, conditional
    groups = [(conditional, entity.describe_sub_entities())]
    groups += [(True, list(children)) for _, children in entity.describe_conditional_sub_entities()]
    for hangs, children in groups:
        for child in children:
            yield from walk(child, hangs, until_reset=until_reset)
            if until_reset and isinstance(child, ResetLaunchConfigurations):
                break


def declared_arguments(
    description: LaunchDescription, conditional: bool = False
) -> list[DeclareLaunchArgument]:
    """Return the arguments declared in the description and what it includes, each name once, unconditional
    ones first."""
    from .actions.declare_launch_argument import DeclareLaunchArgument

    found: dict[str, DeclareLaunchArgument] = {}
    preset = {name for name, _ in _included_settings(description)}
    for entity, hangs in walk(description, conditional, until_reset=True):
        if isinstance(entity, DeclareLaunchArgument) and entity.name not in found:
            entity._conditionally_included = hangs or entity.condition is not None or entity.name in preset
            found[entity.name] = entity
    return list(found.values())


def inclusions(description: LaunchDescription) -> dict[int, list[IncludeLaunchDescription]]:
    """Return by `id` the inclusions that lead to each entity that can be known without a context."""
    from .actions.include_launch_description import IncludeLaunchDescription

    found: dict[int, list[IncludeLaunchDescription]] = {}

    def look(entity: LaunchDescriptionEntity, above: list[IncludeLaunchDescription]) -> None:
        found[id(entity)] = above
        inside = [*above, entity] if isinstance(entity, IncludeLaunchDescription) else above
        children = list(entity.describe_sub_entities())
        for _, conditional in entity.describe_conditional_sub_entities():
            children += conditional
        for child in children:
            look(child, inside)

    look(description, [])
    return found


def _included_settings(description: LaunchDescription) -> Iterator[tuple[str, object]]:
    """Yield the arguments that the description itself passes to what it includes; nobody needs to pass them
    from outside."""
    from .actions.include_launch_description import IncludeLaunchDescription
    from .substitutions.text_substitution import TextSubstitution

    for entity, _ in walk(description):
        if isinstance(entity, IncludeLaunchDescription):
            for name, value in entity.launch_arguments:
                if all(isinstance(part, TextSubstitution) for part in name):
                    yield "".join(part.text for part in name), value


class LaunchIntrospector:
    """Formats descriptions for people."""

    def format_launch_description(self, launch_description: LaunchDescription) -> str:
        """Return an indented outline of the description."""
        return "\n".join(self._lines(launch_description, ""))

    def _lines(self, entity: LaunchDescriptionEntity, indent: str) -> Iterator[str]:
        yield indent + description_of(entity)
        for child in entity.describe_sub_entities():
            yield from self._lines(child, indent + "    ")
        for condition, children in entity.describe_conditional_sub_entities():
            yield f"{indent}    when {condition}:"
            for child in children:
                yield from self._lines(child, indent + "        ")
