"""Which interfaces the packages of this machine have, and where their files lie."""

from __future__ import annotations

from collections.abc import Iterable

from ros2_embedded import packages as _index
from ros2_embedded.rosidl.registry import KINDS, interfaces_of, source_file


def _packages(kinds: Iterable[str]) -> list[str]:
    """The packages that have interfaces of these kinds, sorted."""
    return [name for name in _index.package_names() if any(interfaces_of(name)[kind] for kind in kinds)]


def _prefixes(kinds: Iterable[str]) -> dict[str, str]:
    found = {}
    for name in _packages(kinds):
        prefix = _index.package_prefix(name)
        found[name] = str(_index.package_share(name) if prefix is None else prefix)
    return found


def _interfaces(wanted_names: Iterable[str], kinds: tuple[str, ...]) -> dict[str, list[str]]:
    wanted = list(wanted_names)
    known = set(_index.package_names())
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise LookupError(f"Unknown package '{unknown[0]}'")
    found = {}
    for package in wanted or _packages(kinds):
        interfaces = interfaces_of(package)
        found[package] = sorted(f"{kind}/{name}" for kind in kinds for name in interfaces[kind])
    return {package: names for package, names in found.items() if names}


def get_interface_packages() -> dict[str, str]:
    """Return the prefix of each package that has interfaces, by name."""
    return _prefixes(KINDS)


def get_message_interface_packages() -> list[str]:
    """Return the names of the packages that have messages."""
    return _packages(("msg",))


def get_service_interface_packages() -> list[str]:
    """Return the names of the packages that have services."""
    return _packages(("srv",))


def get_action_interface_packages() -> list[str]:
    """Return the names of the packages that have actions."""
    return _packages(("action",))


def get_interfaces(package_names: Iterable[str] = ()) -> dict[str, list[str]]:
    """Return the interfaces of packages (all, when none is named) as `msg/Name`, `srv/Name`, `action/Name`.

    Packages without any are left out.

    Raises:
        LookupError: a package cannot be found.
    """
    return _interfaces(package_names, KINDS)


def get_message_interfaces(package_names: Iterable[str] = ()) -> dict[str, list[str]]:
    """As `get_interfaces`, messages only."""
    return _interfaces(package_names, ("msg",))


def get_service_interfaces(package_names: Iterable[str] = ()) -> dict[str, list[str]]:
    """As `get_interfaces`, services only."""
    return _interfaces(package_names, ("srv",))


def get_action_interfaces(package_names: Iterable[str] = ()) -> dict[str, list[str]]:
    """As `get_interfaces`, actions only."""
    return _interfaces(package_names, ("action",))


def get_interface_path(interface_name: str) -> str:
    """Return the path of the file that defines an interface, `package/kind/Name` with or without its suffix.

    Raises:
        ValueError: the name has another form.
        LookupError: the package, or the interface in it, cannot be found.
    """
    if not interface_name:
        raise ValueError("Invalid interface name ''. It must not be empty")
    parts = interface_name.split("/")
    if len(parts) < 2 or not all(parts):
        raise ValueError(
            f"Invalid name '{interface_name}'. Expected at least two parts separated by '/': package/msg/Name"
        )
    package = parts[0]
    if package not in _index.package_names():
        raise LookupError(f"Unknown package '{package}'")
    stem, _, suffix = interface_name.partition(".")
    path = source_file(stem)
    if path is not None and suffix in ("", path.suffix[1:]):
        return str(path)
    share = _index.package_share(package).joinpath(*parts[1:])
    if not share.is_file():
        raise LookupError(f"Could not find the interface '{share}'")
    return str(share)
