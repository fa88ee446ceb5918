"""Which interfaces there are."""

from __future__ import annotations

import argparse

from ros2_embedded.packages import package_names
from ros2_embedded.rosidl.registry import KINDS, interfaces_of

_OPTIONS = (("-m", "--only-msgs", "msg"), ("-s", "--only-srvs", "srv"), ("-a", "--only-actions", "action"))


def add_kind_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `--only-msgs`, `--only-srvs` and `--only-actions`, of which at most one may be given."""
    group = parser.add_mutually_exclusive_group()
    for short, long, kind in _OPTIONS:
        group.add_argument(short, long, dest="kind", action="store_const", const=kind, help=f"{kind} only")


def chosen_kinds(args: argparse.Namespace) -> tuple[str, ...]:
    """Return the kinds that the arguments ask for, all by default."""
    return KINDS if args.kind is None else (args.kind,)


def interface_packages(kinds: tuple[str, ...] = KINDS) -> list[str]:
    """Return the names of all packages that have interfaces of these kinds, sorted."""
    return [name for name in package_names() if any(interfaces_of(name)[kind] for kind in kinds)]


def interface_names(package: str, kinds: tuple[str, ...] = KINDS) -> list[str]:
    """Return `package/kind/Name` of each interface of a package, sorted by kind and name."""
    found = interfaces_of(package)
    return [f"{package}/{kind}/{name}" for kind in kinds for name in found.get(kind, ())]
