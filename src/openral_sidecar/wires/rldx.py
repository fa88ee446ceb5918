"""Encoding of the dialect of RLDX-1 and GR00T servers: msgpack, with arrays as `.npy` files in marked maps.

An array is `{"__ndarray_class__": true, "as_npy": <bytes of a .npy file>}`; a modality configuration is
`{"__ModalityConfig_class__": true, "as_json": {…}}` with its enumerations by name. The bytes equal those of
`rldx.policy.server_client.MsgSerializer` of RLDX-1 (Apache-2.0); tuples are decoded as lists, since msgpack has none.

Decoding runs no code from a message: the header of an array is matched, not evaluated, and the size of the data must
equal that in the header before memory is allocated.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import msgpack
import numpy as np
from numpy.typing import NDArray

from openral_sidecar.errors import WireError
from openral_sidecar.wires.openral import MAX_BYTES, MAX_ITEMS, MAX_NDIM

ARRAY, NPY = "__ndarray_class__", "as_npy"
MODALITY, JSON = "__ModalityConfig_class__", "as_json"
_MAGIC = re.compile(rb"\x93NUMPY(?:\x01\x00(..)|\x02\x00(....))", re.DOTALL)
"""Magic and version of a `.npy` file, then the length of its header (NEP 1)."""
_HEADER = re.compile(
    r"\{'descr': '([<>|=])([biuf])([1248])', 'fortran_order': (True|False), 'shape': \(((?:\d+, )*(?:\d+,?)?)\), \} *\n"
)
"""Header of a `.npy` file as all versions of NumPy write it; structured and object arrays do not match."""


@dataclass(frozen=True)
class ActionPart:
    """Interpretation of one key of an action (upstream's ActionConfig)."""

    rep: str
    """RELATIVE, DELTA or ABSOLUTE."""
    type: str
    """EEF or NON_EEF."""
    format: str
    """DEFAULT, XYZ_ROT6D or XYZ_ROTVEC."""
    state_key: str | None = None


@dataclass(frozen=True)
class ModalityConfig:
    """Input or output of a checkpoint in one modality, such as video, state, action or language."""

    delta_indices: tuple[int, ...]
    """Control steps relative to the present one."""
    modality_keys: tuple[str, ...]
    sin_cos_embedding_keys: tuple[str, ...] | None = None
    mean_std_embedding_keys: tuple[str, ...] | None = None
    action_configs: tuple[ActionPart, ...] | None = None
    """For the modality action, one for each key."""


def encode(value: Any) -> bytes:
    """Encode None, bool, int, float, str, bytes, list, dict with str keys, numeric arrays, and ModalityConfig.

    Raises:
        WireError: the value contains another type, or its encoding is larger than MAX_BYTES.
    """
    try:
        packed: bytes = msgpack.packb(value, default=_marked)
    except (TypeError, ValueError, OverflowError) as error:
        raise WireError(f"cannot be sent to a sidecar: {error}") from error
    if len(packed) > MAX_BYTES:
        size = len(packed) / 2**20
        raise WireError(
            f"a message of {size:.1f} MiB; at most {MAX_BYTES >> 20} MiB can be sent: send fewer images"
        )
    return packed


def decode(frame: bytes) -> Any:
    """Decode a message; arrays are C-ordered, in native byte order, and writable.

    Raises:
        WireError: the bytes are not a message, or contain unsupported types.
    """
    if len(frame) > MAX_BYTES:
        raise WireError(f"a message of {len(frame)} bytes; at most {MAX_BYTES} are read")
    try:
        return msgpack.unpackb(
            frame,
            object_hook=_unmarked,
            ext_hook=_no_extension,
            max_array_len=MAX_ITEMS,
            max_map_len=MAX_ITEMS,
        )
    except (ValueError, TypeError, msgpack.UnpackException) as error:
        raise WireError(f"not a message ({type(error).__name__}: {str(error)[:80]})") from error


def _marked(value: Any) -> Any:
    """Return the plain form of a value of a type that msgpack does not support."""
    if isinstance(value, ModalityConfig):
        return {MODALITY: True, JSON: asdict(value)}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "biuf" or value.dtype.itemsize > 8:
            raise TypeError(f"array of {value.dtype}; only bool, integers and floats to 64 bits")
        file = io.BytesIO()
        np.save(file, value, allow_pickle=False)
        return {ARRAY: True, NPY: file.getvalue()}
    raise TypeError(f"{type(value).__name__} has no form on the wire")


def _unmarked(values: dict[str, Any]) -> Any:
    """Return the value that a marked map stands for; any other map is returned as it is."""
    if MODALITY in values:
        return _modality(values.get(JSON))
    if ARRAY in values:
        return _array(values.get(NPY))
    return values


def _array(file: Any) -> NDArray[Any]:
    magic = _MAGIC.match(file) if isinstance(file, bytes) else None
    if magic is None:
        raise ValueError("not a .npy file")
    begin = magic.end() + int.from_bytes(magic[1] or magic[2], "little")
    header = _HEADER.fullmatch(file[magic.end() : begin].decode("latin1"))
    if header is None:
        raise ValueError("the header of a .npy file is malformed, or its array is not one of numbers")
    order, kind, size, fortran, written = header.groups()
    shape = tuple(int(number) for number in written.split(",") if number)
    if len(shape) > MAX_NDIM or math.prod(shape) * int(size) != len(file) - begin:
        raise ValueError("the shape of a .npy file and its data differ")
    flat = np.frombuffer(bytearray(file[begin:]), np.dtype(f"{order}{kind}{size}"))
    array = flat.reshape(shape, order="F" if fortran == "True" else "C")
    return np.ascontiguousarray(array, array.dtype.newbyteorder("=")).reshape(shape)


def _modality(found: Any) -> ModalityConfig:
    """Return a configuration from its map, without fields that newer servers add.

    Raises:
        ValueError: the map is malformed.
    """
    values = _known(ModalityConfig, found)
    for name, value in values.items():
        if value is not None and not isinstance(value, list):
            raise ValueError(f"ModalityConfig.{name} is no list")
    parts = values.pop("action_configs", None)
    if parts is not None:
        parts = tuple(ActionPart(**_known(ActionPart, part)) for part in parts)
    lists = {name: tuple(value) if value is not None else None for name, value in values.items()}
    return ModalityConfig(action_configs=parts, **lists)  # type: ignore[arg-type]  # checked by name above


def _known(kind: type[Any], found: Any) -> dict[str, Any]:
    if not isinstance(found, Mapping):
        raise ValueError(f"{kind.__name__} is no map")
    return {field.name: found[field.name] for field in fields(kind) if field.name in found}


def _no_extension(code: int, data: bytes) -> Any:
    raise ValueError(f"extension type {code}")
