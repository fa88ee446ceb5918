"""Installs the import hook of the message packages; `ros2_embedded.pth` imports this at interpreter start.

The hook stands at the end of `sys.meta_path`, so an installed ROS 2 wins. Nothing heavy is imported here:
the code that makes message modules is loaded at the first import of a name that nobody else can find.
"""

from __future__ import annotations

import sys

_KINDS = ("msg", "srv", "action")
_STANDARD = sys.stdlib_module_names


def _standard_library_is_loading() -> bool:
    """True inside the import of a standard module.

    Several of them try modules that other platforms have. The look-up needs the standard library complete,
    and would cost time at each start of Python (which tries `sitecustomize`).
    """
    return any(
        name.partition(".")[0] in _STANDARD
        and getattr(getattr(module, "__spec__", None), "_initializing", False)
        for name, module in list(sys.modules.items())
    )


class InterfaceFinder:
    """Meta path finder for ROS interface packages: `X`, `X.msg`, `X.srv`, `X.action`, and `X.msg._name`."""

    _busy = False

    @classmethod
    def find_spec(cls, fullname: str, path: object = None, target: object = None) -> object | None:
        """Return the spec of an interface module, or None when the name is not one."""
        package, _, rest = fullname.partition(".")
        kind, _, leaf = rest.partition(".")
        if cls._busy or package in _STANDARD or (kind and kind not in _KINDS):
            return None
        if leaf and (not leaf.startswith("_") or "." in leaf):
            return None
        if _standard_library_is_loading():
            return None
        cls._busy = True  # the look-up itself imports modules, and some of those are optional
        try:
            from ros2_embedded.rosidl.importer import find_interface_spec

            return find_interface_spec(package, kind, leaf)
        finally:
            cls._busy = False


if not any(getattr(finder, "__name__", "") == "InterfaceFinder" for finder in sys.meta_path):
    sys.meta_path.append(InterfaceFinder)  # type: ignore[arg-type]
