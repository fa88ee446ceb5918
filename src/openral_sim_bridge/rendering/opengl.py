"""Which OpenGL platform renders off screen here. Nothing of MuJoCo is imported: it decides once, at its import."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping

VARIABLE = "MUJOCO_GL"
EGL_LIBRARY = "libEGL.so.1"
OSMESA_LIBRARIES = ("libOSMesa.so.8", "libOSMesa.so.6", "libOSMesa.so")
EGL_PACKAGES = "libegl1 libegl-mesa0 libgl1 libgl1-mesa-dri"
"""Debian's and Ubuntu's; with an NVIDIA card its driver brings EGL instead of libegl-mesa0."""
OSMESA_PACKAGES = "libosmesa6"


RASTERISER_VARIABLE = "LP_NUM_THREADS"
"""Threads that Mesa's llvmpipe draws with beside the one that calls it; 0: none. Without it, one a core."""


def rasteriser_threads(processes: int, cores: int) -> str:
    """Return the value of `RASTERISER_VARIABLE` for each of so many processes that draw at the same time.

    Where there is a process for each core, further threads only take turns with them: on two cores beside other work,
    two processes without them took half the time. The pictures are the same.
    """
    share = cores // processes
    return str(share if share > 1 else 0)


def platform(environment: Mapping[str, str] = os.environ) -> str:
    """Return the value for MUJOCO_GL: what the user set, else what there is.

    EGL works with and without a display and on graphics cards; OSMesa is the same rasteriser on the CPU without EGL
    around it. Where there is neither, `disable` lets MuJoCo be imported, so that all but pictures works.
    """
    chosen = environment.get(VARIABLE)
    if chosen:
        return chosen
    if egl_devices():
        return "egl"
    return "osmesa" if has_osmesa() else "disable"


def has_egl() -> bool:
    """Whether EGL's loader is there, with or without a driver."""
    return _loads(EGL_LIBRARY)


def has_osmesa() -> bool:
    """Whether OSMesa is there."""
    return any(_loads(name) for name in OSMESA_LIBRARIES)


def egl_devices() -> int:
    """Return how many devices EGL offers, CPUs included; 0 where its loader or every driver is missing."""
    try:
        egl = ctypes.CDLL(EGL_LIBRARY)
        find = egl.eglGetProcAddress
    except (OSError, AttributeError):
        return 0
    find.restype, find.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
    address = find(b"eglQueryDevicesEXT")
    if not address:
        return 0
    signature = ctypes.CFUNCTYPE(ctypes.c_uint, ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int))
    count = ctypes.c_int(0)
    return count.value if signature(address)(0, None, ctypes.byref(count)) else 0


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True
