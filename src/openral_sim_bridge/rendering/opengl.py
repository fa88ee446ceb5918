"""Chooses the OpenGL platform for offscreen rendering. It imports no MuJoCo, which reads the choice at its import."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping

VARIABLE = "MUJOCO_GL"
EGL_LIBRARY = "libEGL.so.1"
OSMESA_LIBRARIES = ("libOSMesa.so.8", "libOSMesa.so.6", "libOSMesa.so")
EGL_PACKAGES = "libegl1 libegl-mesa0 libgl1 libgl1-mesa-dri"
"""Packages of Debian and Ubuntu; the driver of an NVIDIA card provides EGL in place of libegl-mesa0."""
OSMESA_PACKAGES = "libosmesa6"


RASTERISER_VARIABLE = "LP_NUM_THREADS"
"""Number of threads with which Mesa's llvmpipe renders beside the calling one; 0: none; unset: one per core."""


def rasteriser_threads(processes: int, cores: int) -> str:
    """Return the value of `RASTERISER_VARIABLE` for each of several processes that render at the same time.

    With a process for each core, further threads only compete with the processes: on two cores with other load, two
    processes took half the time without them. The images are the same.
    """
    share = cores // processes
    return str(share if share > 1 else 0)


def platform(environment: Mapping[str, str] = os.environ) -> str:
    """Return the value for MUJOCO_GL: the one that the user set, else `egl`, `osmesa` or `disable`.

    EGL works with and without a display and on graphics cards; OSMesa is the same CPU rasteriser without EGL. Where
    neither is available, MuJoCo can still be imported with `disable`, and everything but rendering works.
    """
    chosen = environment.get(VARIABLE)
    if chosen:
        return chosen
    if egl_devices():
        return "egl"
    return "osmesa" if has_osmesa() else "disable"


def has_egl() -> bool:
    """Return whether EGL's loader can be loaded, with or without a driver."""
    return _loads(EGL_LIBRARY)


def has_osmesa() -> bool:
    """Return whether OSMesa can be loaded."""
    return any(_loads(name) for name in OSMESA_LIBRARIES)


def egl_devices() -> int:
    """Return the number of EGL devices, software rasterisers included; 0 if its loader or every driver is missing."""
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
