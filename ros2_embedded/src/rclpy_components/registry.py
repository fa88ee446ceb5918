"""Which components are installed."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

COMPONENTS_GROUP = "ros2_embedded.components"


class ComponentNotFoundError(LookupError):
    """No installed distribution has the component."""


def component_types() -> dict[str, dict[str, EntryPoint]]:
    """Return the entry point of each component by package and name, both sorted."""
    found: dict[str, dict[str, EntryPoint]] = {}
    for point in sorted(entry_points(group=COMPONENTS_GROUP), key=lambda point: point.name):
        found.setdefault(point.name.partition("::")[0], {})[point.name] = point
    return dict(sorted(found.items()))


def load_component(package: str, plugin: str) -> type:
    """Import and return the class of a component.

    Raises:
        ComponentNotFoundError: the package has no such component; the text names those it has.
        ImportError: its module cannot be imported.
    """
    known = component_types().get(package, {})
    if plugin not in known:
        names = ", ".join(known) or "none"
        raise ComponentNotFoundError(
            f"package '{package}' has no Python component '{plugin}'; it has: {names}. "
            f"Components are entry points of group '{COMPONENTS_GROUP}'"
        )
    loaded: type = known[plugin].load()
    return loaded
