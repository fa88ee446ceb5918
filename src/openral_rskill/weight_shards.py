"""The files of a checkpoint's weights, as transformers writes them: one, or the shards that an index names."""

from __future__ import annotations

import json
from pathlib import Path

from openral_core.errors import PolicyError

WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"


def weight_files(folder: Path) -> list[Path]:
    """Return the safetensors files of a checkpoint.

    Raises:
        PolicyError: there are none, or one that the index names is missing.
    """
    if (folder / INDEX).is_file():
        index = json.loads((folder / INDEX).read_text())
        files = [folder / name for name in sorted(set(index["weight_map"].values()))]
    else:
        files = [folder / WEIGHTS]
    if missing := [path.name for path in files if not path.is_file()]:
        raise PolicyError(f"{folder}: {missing[0]} is missing; fetch the weights again, as safetensors")
    return files
