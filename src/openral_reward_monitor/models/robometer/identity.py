"""Which checkpoint a Robometer server answers for; the same on both sides of the wire."""

from __future__ import annotations

import hashlib
from pathlib import Path

from openral_sidecar.identity import Identity


def identity_of(folder: Path, quantization: str) -> Identity:
    """Return the folder, the number format, and as the revision a fingerprint of the files.

    With the fingerprint a server that loaded other files from the same folder, before they were replaced, is not taken
    for one that serves these. It is over the configurations' content, and over names, sizes and times of the weights,
    which takes no time for gigabytes.

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
