"""Installs the import hook of the message packages; `ros2_embedded.pth` imports this at interpreter start.

The hook is the last entry of `sys.meta_path`, so the modules of an installed ROS 2 take precedence. The code
that makes message modules is loaded at the first import of a name that no other finder knows, to keep the
start of the interpreter fast.
"""

from __future__ import annotations

import _imp
import _thread
import sys

TYPE_CHECKING = False  # as `typing` has it, whose import would take longer than all of this
if TYPE_CHECKING:
    from types import FrameType
    from typing import ClassVar

_KINDS = ("msg", "srv", "action")
_STANDARD = sys.stdlib_module_names


def _standard_library_is_loading() -> bool:
    """Return whether this runs inside the import of a standard module, by this thread.

    Several standard modules try to import modules of other platforms, and each start of Python tries
    `sitecustomize`. A look-up would need the complete standard library, and time.
    """
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "<module>":
            spec = frame.f_globals.get("__spec__")
            name = getattr(spec, "name", "").partition(".")[0]
            if name in _STANDARD and getattr(spec, "_initializing", False):
                return True
        frame = frame.f_back
    return False


class _WithoutImportLock:
    """Releases the lock under which Python asks its finders, as the look-up imports modules.

    Another thread may be importing one of these, and needs the lock in order to go on.
    """

    def __enter__(self) -> None:
        """Release it as often as this thread holds it."""
        self._count = 0
        while True:
            try:
                _imp.release_lock()
            except RuntimeError:  # it is not held, or by another thread
                return
            self._count += 1

    def __exit__(self, *error: object) -> None:
        """Take it again."""
        for _ in range(self._count):
            _imp.acquire_lock()


class InterfaceFinder:
    """Meta path finder for ROS interface packages: `X`, `X.msg`, `X.srv`, `X.action`, and `X.msg._name`."""

    _busy: ClassVar[set[int]] = set()
    """Threads in a look-up, which imports modules itself, some of which are optional."""

    @classmethod
    def find_spec(cls, fullname: str, path: object = None, target: object = None) -> object | None:
        """Return the spec of an interface module, or None when the name is not one."""
        package, _, rest = fullname.partition(".")
        kind, _, leaf = rest.partition(".")
        thread = _thread.get_ident()
        if thread in cls._busy or package in _STANDARD or (kind and kind not in _KINDS):
            return None
        if leaf and (not leaf.startswith("_") or "." in leaf):
            return None
        if _standard_library_is_loading():
            return None
        cls._busy.add(thread)
        try:
            with _WithoutImportLock():
                from ros2_embedded.rosidl.importer import find_interface_spec

                return find_interface_spec(package, kind, leaf)
        finally:
            cls._busy.discard(thread)


if not any(getattr(finder, "__name__", "") == "InterfaceFinder" for finder in sys.meta_path):
    sys.meta_path.append(InterfaceFinder)  # type: ignore[arg-type]
