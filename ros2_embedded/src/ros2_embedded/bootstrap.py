"""Installs the import hook of the message packages; `ros2_embedded.pth` imports this at interpreter start.

The hook is the last entry of `sys.meta_path`, so the modules of an installed ROS 2 take precedence. The code
that makes message modules is loaded at the first import of a name that no other finder knows, to keep the
start of the interpreter fast.
"""

from __future__ import annotations

import sys

_KINDS = ("msg", "srv", "action")
_STANDARD = sys.stdlib_module_names


def _standard_library_is_loading() -> bool:
    """Return whether this runs inside the import of a standard module.

    Several standard modules try to import modules of other platforms, and each start of Python tries
    `sitecustomize`. A look-up would need the complete standard library, and time.
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
        cls._busy = True  # the look-up imports modules itself, some of which are optional
        try:
            from ros2_embedded.rosidl.importer import find_interface_spec

            return find_interface_spec(package, kind, leaf)
        finally:
            cls._busy = False


if not any(getattr(finder, "__name__", "") == "InterfaceFinder" for finder in sys.meta_path):
    sys.meta_path.append(InterfaceFinder)  # type: ignore[arg-type]
