"""The identity of the checkpoint that a Robometer server has loaded, as client and server compute it."""

from __future__ import annotations

import hashlib
from pathlib import Path

from openral_sidecar.identity import Identity


def identity_of(folder: Path, quantization: str) -> Identity:
    """Return the identity: the folder, the quantization, and as the revision a SHA-256 of the files.

    By the revision a server that loaded other files from the same folder, before they were replaced, is recognized. It
    is over the contents of the configuration files, but over names, sizes and modification times of the weights, since
    reading gigabytes would take long.

    Args:
        folder: of the checkpoint.
        quantization: `nf4` or `none`.
    """
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.suffix in (".json", ".yaml"):
            digest.update(f"{path.name}\0".encode() + path.read_bytes())
        elif path.suffix == ".safetensors":
            status = path.stat()
            digest.update(f"{path.name}\0{status.st_size}\0{status.st_mtime_ns}\0".encode())
    return Identity(str(folder), quantization=quantization, revision=digest.hexdigest())
