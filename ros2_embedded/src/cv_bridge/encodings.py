"""The encodings of `sensor_msgs/image_encodings`: element type, channels, and how colours are converted."""

from __future__ import annotations

import re

COLOURS = {
    "rgb8": ("uint8", 3),
    "bgr8": ("uint8", 3),
    "rgba8": ("uint8", 4),
    "bgra8": ("uint8", 4),
    "rgb16": ("uint16", 3),
    "bgr16": ("uint16", 3),
    "rgba16": ("uint16", 4),
    "bgra16": ("uint16", 4),
    "mono8": ("uint8", 1),
    "mono16": ("uint16", 1),
    "bayer_rggb8": ("uint8", 1),
    "bayer_bggr8": ("uint8", 1),
    "bayer_gbrg8": ("uint8", 1),
    "bayer_grbg8": ("uint8", 1),
    "bayer_rggb16": ("uint16", 1),
    "bayer_bggr16": ("uint16", 1),
    "bayer_gbrg16": ("uint16", 1),
    "bayer_grbg16": ("uint16", 1),
    "yuv422": ("uint8", 2),
    "uyvy": ("uint8", 2),
    "yuv422_yuy2": ("uint8", 2),
    "yuyv": ("uint8", 2),
}
"""Element type and number of channels by name."""

DTYPES = {
    "8U": "uint8",
    "8S": "int8",
    "16U": "uint16",
    "16S": "int16",
    "32S": "int32",
    "32F": "float32",
    "64F": "float64",
}
"""Element types by the name of an OpenCV depth."""

_GENERIC = re.compile(r"(8U|8S|16U|16S|32S|32F|64F)(?:C(\d+))?")
# OpenCV names a Bayer pattern by the second row, ROS by the first.
_BAYER = {"rggb": "BayerBG", "bggr": "BayerRG", "gbrg": "BayerGR", "grbg": "BayerGB"}
_LAYOUTS = {"rgb": "RGB", "bgr": "BGR", "rgba": "RGBA", "bgra": "BGRA", "mono": "GRAY"}
_YUV = {"yuv422": "YUV2{}_UYVY", "uyvy": "YUV2{}_UYVY", "yuv422_yuy2": "YUV2{}_YUY2", "yuyv": "YUV2{}_YUY2"}


def parse(encoding: str) -> tuple[str, int]:
    """Return the numpy type of an element and the number of channels.

    Raises:
        ValueError: nobody knows the encoding.
    """
    if encoding in COLOURS:
        return COLOURS[encoding]
    match = _GENERIC.fullmatch(encoding)
    if match is None:
        raise ValueError(f"Unrecognized image encoding [{encoding}]")
    return DTYPES[match[1]], int(match[2] or 1)


def _layout(encoding: str) -> str | None:
    """The layout of a colour encoding in OpenCV's words, None for Bayer patterns, YUV and plain matrices."""
    return _LAYOUTS.get(encoding.rstrip("0123456789")) if encoding in COLOURS else None


def conversion(source: str, target: str) -> str | None:
    """Return the name of OpenCV's conversion code between two encodings, None when only elements change.

    Raises:
        ValueError: there is none.
    """
    known = _layout(source)
    wanted = _layout(target)
    if wanted is not None and source.startswith("bayer_"):
        return f"COLOR_{_BAYER[source[6:10]]}2{wanted}"
    if wanted is not None and source in _YUV:
        return f"COLOR_{_YUV[source].format(wanted)}"
    if known is not None and wanted is not None:
        return None if known == wanted else f"COLOR_{known}2{wanted}"
    if parse(source)[1] == parse(target)[1]:
        return None
    raise ValueError(f"[{source}] cannot be converted to [{target}]: they have different numbers of channels")
