"""Keep an import from starting processes.

`import glfw`, which gymnasium's MuJoCo environments do, starts one Python for every libglfw it finds, to ask for
its version, although nothing here opens a window. A Ctrl-C in that moment reaches those children too, and they
end with a traceback of their own. Named by `PYGLFW_LIBRARY`, the library is loaded directly.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path


def name_bundled_glfw() -> None:
    """Set `PYGLFW_LIBRARY` to the library inside the glfw wheel, unless the user has set it.

    Without a wheel that carries one (macOS names it otherwise) nothing is set.
    """
    spec = find_spec("glfw")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        library = Path(folder) / "x11" / "libglfw.so"
        if library.is_file():
            os.environ.setdefault("PYGLFW_LIBRARY", str(library))
