"""Compression of whole files and of single messages of a bag by zstd, as rosbag2_compression_zstd does it."""

from __future__ import annotations

from pathlib import Path

import zstandard

from .errors import BagError

SUFFIX = ".zstd"
"""What stands behind the name of a file that is compressed as a whole."""
LEVEL = 1
"""zstd level of files and messages."""
LONGEST_MESSAGE = 2**31
"""[bytes] of a message that is unpacked; damaged or hostile bytes may tell any length."""
_AT_ONCE = 2**20  # bytes that are read before they are unpacked
_MAGIC = b"\x28\xb5\x2f\xfd"  # of a zstd frame; a message in CDR begins with 0


def compress_file(path: Path) -> Path:
    """Replace a file by a compressed one and return that; if it cannot be written, the file stays as it is.

    Raises:
        OSError: the disk is full.
    """
    target = path.with_name(path.name + SUFFIX)
    part = target.with_name(target.name + ".part")
    try:
        with path.open("rb") as source, part.open("wb") as packed:
            zstandard.ZstdCompressor(level=LEVEL).copy_stream(source, packed, size=path.stat().st_size)
    except OSError:
        part.unlink(missing_ok=True)
        raise
    part.replace(target)
    path.unlink()
    return target


def unpack_file(path: Path, folder: Path) -> Path:
    """Write what a compressed file holds to a folder, and return that file.

    Raises:
        BagError: the file is damaged.
        OSError: it cannot be read, or there is no room for what it holds.
    """
    target, unpacker = folder / path.stem, zstandard.ZstdDecompressor().decompressobj()
    with path.open("rb") as source, target.open("wb") as plain:
        try:
            while not unpacker.eof and (packed := source.read(_AT_ONCE)):
                plain.write(unpacker.decompress(packed))
        except zstandard.ZstdError as error:
            raise BagError(f"'{path}' is damaged: {error}") from error
    if not unpacker.eof:
        raise BagError(f"'{path}' is damaged: it ends within what was compressed")
    return target


def compress_message(message: bytes) -> bytes:
    """Return a message as one zstd frame, which tells its length."""
    return zstandard.ZstdCompressor(level=LEVEL).compress(message)


def unpack_message(message: bytes) -> bytes:
    """Return a message as it was before it was compressed, if it was.

    Raises:
        BagError: the bytes are no whole frame, or tell no length or one above `LONGEST_MESSAGE`.
    """
    if message[:4] != _MAGIC:
        return message
    try:
        length = zstandard.get_frame_parameters(message).content_size
        if length > LONGEST_MESSAGE:
            raise BagError(f"a compressed message tells a length of {length} bytes")
        return zstandard.ZstdDecompressor().decompress(message)
    except zstandard.ZstdError as error:
        raise BagError(f"a compressed message is damaged: {error}") from error
