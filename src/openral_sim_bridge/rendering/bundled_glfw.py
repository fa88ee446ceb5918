"""Prevents `import glfw` from starting processes.

gymnasium's MuJoCo environments import glfw, although nothing here opens a window. The import starts one Python process
for every libglfw that it finds, to query its version; a Ctrl-C meanwhile also reaches these processes, which then print
tracebacks. A library named by `PYGLFW_LIBRARY` is loaded without them.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path


def name_bundled_glfw() -> None:
    """Set `PYGLFW_LIBRARY` to the library inside the glfw wheel, unless the user has set it.

    Nothing is set if the wheel has no `x11/libglfw.so`, as on macOS.
    """
    spec = find_spec("glfw")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        library = Path(folder) / "x11" / "libglfw.so"
        if library.is_file():
            os.environ.setdefault("PYGLFW_LIBRARY", str(library))
