"""The bridge between `sensor_msgs` images and OpenCV arrays."""

from __future__ import annotations

import sys
from typing import Any

import cv2
import numpy as np
from sensor_msgs.msg import CompressedImage, Image

from .encodings import COLOURS, DTYPES, conversion, parse

_PASS = "passthrough"
# File formats that `CompressedImage.format` may name, as OpenCV spells their suffixes.
_FORMATS = (
    "bmp",
    "dib",
    "jpeg",
    "jpg",
    "jpe",
    "jp2",
    "png",
    "pbm",
    "pgm",
    "ppm",
    "sr",
    "ras",
    "tiff",
    "tif",
    "webp",
)


class CvBridgeError(TypeError):
    """An image cannot be converted."""


def _convert(array: np.ndarray[Any, Any], source: str, target: str) -> np.ndarray[Any, Any]:
    """Colours and element type of one encoding as another has them; depths of 8 and 16 bits are scaled."""
    if target in (_PASS, source):
        return array
    try:
        name = conversion(source, target)
        dtype = np.dtype(parse(target)[0])
    except ValueError as error:
        raise CvBridgeError(str(error)) from error
    if name is not None:
        code = getattr(cv2, name, None)
        if code is None:
            raise CvBridgeError(f"[{source}] cannot be converted to [{target}]")
        try:
            array = cv2.cvtColor(array, code)
        except cv2.error as error:  # of no size, or of an odd width where two points share their colours
            raise CvBridgeError(
                f"[{source}] of shape {array.shape} cannot be converted to [{target}]: {error.err}"
            ) from error
    if array.dtype == dtype:
        return array
    if target in COLOURS and source not in COLOURS:
        raise CvBridgeError(f"[{source}] is not a color format, but [{target}] is: its values have no scale")
    colours = source in COLOURS and target in COLOURS
    if colours and (array.dtype, dtype) == (np.dtype(np.uint8), np.dtype(np.uint16)):
        return array.astype(dtype) * 257  # 255 becomes 65535
    if colours and (array.dtype, dtype) == (np.dtype(np.uint16), np.dtype(np.uint8)):
        return np.rint(array / 257.0).astype(dtype)
    return array.astype(dtype)


def _writable_bytes(data: Any) -> np.ndarray[Any, Any]:
    """The bytes of a message as an array that may be drawn on; a copy only of what is read only."""
    held = np.ascontiguousarray(data) if isinstance(data, np.ndarray) else data
    array = np.frombuffer(held, np.uint8)
    return array if array.flags.writeable else array.copy()


class CvBridge:
    """Converts images; it keeps no state, so that one may serve a whole program."""

    def __init__(self) -> None:
        """Know the names of element types and file formats."""
        self.cvtype_to_name = {
            getattr(cv2, f"CV_{depth}C{channels}"): f"{depth}C{channels}"
            for depth in DTYPES
            for channels in range(1, 5)
        }
        self.numpy_type_to_cvtype = {dtype: depth for depth, dtype in DTYPES.items()}
        self.numpy_type_to_cvtype["bool"] = "8U"

    def dtype_with_channels_to_cvtype2(self, dtype: Any, n_channels: int) -> str:
        """Return the name of an OpenCV type, such as `8UC3`."""
        return f"{self.numpy_type_to_cvtype[np.dtype(dtype).name]}C{n_channels}"

    def cvtype2_to_dtype_with_channels(self, cvtype: int | str) -> tuple[str, int]:
        """Return numpy type and number of channels of an OpenCV type, by its number or its name."""
        return parse(self.cvtype_to_name[cvtype] if isinstance(cvtype, int) else cvtype)

    def encoding_to_cvtype2(self, encoding: str) -> int:
        """Return the number of the OpenCV type of an encoding; raise CvBridgeError for an unknown one."""
        dtype, channels = self.encoding_to_dtype_with_channels(encoding)
        name = self.dtype_with_channels_to_cvtype2(dtype, channels)
        return next(number for number, known in self.cvtype_to_name.items() if known == name)

    def encoding_to_dtype_with_channels(self, encoding: str) -> tuple[str, int]:
        """Return numpy type and number of channels of an encoding; raise CvBridgeError for an unknown one."""
        try:
            return parse(encoding)
        except ValueError as error:
            raise CvBridgeError(str(error)) from error

    def imgmsg_to_cv2(self, img_msg: Any, desired_encoding: str = _PASS) -> np.ndarray[Any, Any]:
        """Return an image as an array of shape (height, width) or (height, width, channels).

        The array may be written to. As in ROS 2 it shares its memory with the message where nothing is
        converted and the message itself may be written to.

        Args:
            img_msg: `sensor_msgs/msg/Image`.
            desired_encoding: what the array shall hold, `passthrough` for what the message holds.

        Raises:
            CvBridgeError: the encoding is unknown, cannot be converted, or the data end early.
        """
        dtype_name, channels = self.encoding_to_dtype_with_channels(img_msg.encoding)
        dtype = np.dtype(dtype_name).newbyteorder(">" if img_msg.is_bigendian else "<")
        width = img_msg.width * channels
        row = width * dtype.itemsize
        step = img_msg.step or row
        data = _writable_bytes(img_msg.data)
        if step < row or data.size < step * img_msg.height:
            raise CvBridgeError(
                f"the image has {data.size} bytes, {img_msg.height} rows of {step} and {row} each are needed"
            )
        rows = data[: step * img_msg.height].reshape(img_msg.height, step)[:, :row]
        array = np.ascontiguousarray(rows).view(dtype)
        array = array.reshape(img_msg.height, img_msg.width, channels) if channels > 1 else array
        if dtype.byteorder == (">" if sys.byteorder == "little" else "<"):
            array = array.astype(dtype.newbyteorder("="))
        return _convert(array, img_msg.encoding, desired_encoding)

    def cv2_to_imgmsg(self, cvim: Any, encoding: str = _PASS, header: Any = None) -> Any:
        """Return an array as `sensor_msgs/msg/Image`.

        Args:
            cvim: shape (height, width) or (height, width, channels).
            encoding: what the array holds; `passthrough` names it by its OpenCV type, such as `8UC3`.
            header: of the message.

        Raises:
            TypeError: no array.
            CvBridgeError: the encoding is unknown, or has another type than the array.
        """
        if not isinstance(cvim, (np.ndarray, np.generic)):
            raise TypeError("Your input type is not a numpy array")
        array = np.ascontiguousarray(cvim)
        channels = 1 if array.ndim < 3 else array.shape[2]
        own = self.dtype_with_channels_to_cvtype2(array.dtype, channels)
        if encoding != _PASS:
            dtype, wanted = self.encoding_to_dtype_with_channels(encoding)
            if (np.dtype(dtype), wanted) != (array.dtype, channels):
                raise CvBridgeError(
                    f"encoding specified as {encoding}, but image has incompatible type {own}"
                )
        message = Image(height=array.shape[0], width=array.shape[1])
        message.encoding = own if encoding == _PASS else encoding
        message.is_bigendian = int(
            array.dtype.byteorder == ">" or (array.dtype.byteorder == "=" and sys.byteorder == "big")
        )
        message.data = array.tobytes()
        message.step = len(message.data) // max(message.height, 1)
        if header is not None:
            message.header = header
        return message

    def compressed_imgmsg_to_cv2(
        self, cmprs_img_msg: Any, desired_encoding: str = _PASS
    ) -> np.ndarray[Any, Any]:
        """Return a `sensor_msgs/msg/CompressedImage` as an array; colours are BGR.

        Raises:
            CvBridgeError: the data are no image, or the encoding cannot be converted.
        """
        data = np.frombuffer(bytes(cmprs_img_msg.data), np.uint8)
        array = cv2.imdecode(data, cv2.IMREAD_ANYCOLOR) if data.size else None
        if array is None:
            raise CvBridgeError(f"the data of format '{cmprs_img_msg.format}' cannot be decoded")
        return _convert(array, "mono8" if array.ndim == 2 else "bgr8", desired_encoding)

    def cv2_to_compressed_imgmsg(self, cvim: Any, dst_format: str = "jpg") -> Any:
        """Return an array (BGR or grey) as `sensor_msgs/msg/CompressedImage` in a format such as `png`.

        Raises:
            TypeError: no array.
            CvBridgeError: an unknown format, or an array that it cannot hold.
        """
        if not isinstance(cvim, (np.ndarray, np.generic)):
            raise TypeError("Your input type is not a numpy array")
        if dst_format not in _FORMATS:
            raise CvBridgeError(f"unknown format '{dst_format}'; known are {', '.join(_FORMATS)}")
        try:
            done, data = cv2.imencode(f".{dst_format}", np.asarray(cvim))
        except cv2.error as error:
            raise CvBridgeError(str(error)) from error
        if not done:
            raise CvBridgeError(f"the image cannot be written as '{dst_format}'")
        return CompressedImage(format=dst_format, data=data.tobytes())
