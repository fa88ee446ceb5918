"""Makes interface modules such as `sensor_msgs.msg` for the import hook of `ros2_embedded.bootstrap`."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from ros2_embedded.packages import BUNDLED, PackageNotFoundError, package_share


def _is_candidate(package: str) -> bool:
    """Return whether a ROS package of that name exists, with interfaces or without."""
    if (BUNDLED / package).is_dir():
        return True
    try:
        package_share(package)
    except PackageNotFoundError:
        return False
    return True


class _InterfaceLoader:
    """Loader of one interface module, whose classes are made at first access.

    Args:
        package: the ROS package.
        kind: `msg`, `srv` or `action`; empty for the module of the package itself.
        names: of the module's interfaces.
        modules: names of its submodules.
    """

    def __init__(self, package: str, kind: str, names: Sequence[str], modules: Sequence[str] = ()) -> None:
        """Store the description of the module."""
        self._package, self._kind, self._names, self._modules = package, kind, list(names), set(modules)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Return None, so that the import system makes the module object."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Fill the module."""
        if not self._kind:
            module.__doc__ = f"The ROS interface package {self._package}."
            return
        module.__doc__ = f"The {self._kind} interfaces of {self._package}."
        module.__dict__["__all__"] = self._names
        module.__dict__["__getattr__"] = self._make_getattr(module)
        module.__dict__["__dir__"] = lambda: self._names

    def _make_getattr(self, module: ModuleType) -> Callable[[str], Any]:
        """Return the module's `__getattr__` (PEP 562)."""

        def get(name: str) -> Any:
            from ros2_embedded.rosidl.classes import interface_class
            from ros2_embedded.rosidl.registry import InterfaceNotFoundError

            if name in self._modules:
                return importlib.import_module(f"{module.__name__}.{name}")
            try:
                found = interface_class(f"{self._package}/{self._kind}/{name}")
            except InterfaceNotFoundError as error:
                if name in self._names:  # it is there, but not a package that it has a field of
                    reason = f"{module.__name__}.{name} needs what is not installed: {error}"
                    raise ModuleNotFoundError(reason) from error
                raise AttributeError(f"module {module.__name__!r} has no interface {name!r}") from error
            module.__dict__[name] = found
            return found

        return get


def find_interface_spec(package: str, kind: str, leaf: str = "") -> ModuleSpec | None:
    """Return the spec of `package` (kind empty), `package.kind` or `package.kind._leaf`; None for others."""
    if not _is_candidate(package):
        return None
    from ros2_embedded.rosidl.module_names import parts_of, snake_case
    from ros2_embedded.rosidl.registry import interfaces_of

    interfaces = interfaces_of(package)
    names = interfaces.get(kind, [])
    if (kind and not names) or not any(interfaces.values()):
        return None
    modules = {f"_{snake_case(name)}": name for name in names}
    if leaf:
        if leaf not in modules:
            return None
        parts: Any = _InterfaceLoader(package, kind, parts_of(modules[leaf], kind))
        return ModuleSpec(f"{package}.{kind}.{leaf}", parts)
    loader: Any = _InterfaceLoader(package, kind, names, list(modules))
    spec = ModuleSpec(f"{package}.{kind}" if kind else package, loader, is_package=True)
    if not kind and spec.submodule_search_locations is not None and (BUNDLED / package / "python").is_dir():
        spec.submodule_search_locations.append(str(BUNDLED / package / "python"))  # hand-written modules
    return spec
