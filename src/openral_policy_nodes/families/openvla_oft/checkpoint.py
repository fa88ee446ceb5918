"""An OpenVLA-OFT checkpoint on disk, checked before any of it is loaded. Standard library only."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openral_core.errors import PolicyError
from openral_core.files.json_file import read_json_object

STATISTICS = "dataset_statistics.json"
PROPRIO = "proprio_projector.safetensors"
"""Weights of the proprioception projector.

Upstream saves them as a pickle, `proprio_projector--<step>_checkpoint.pt`, which `openral rskill convert` converts.
"""
_PROBE_BYTES = 1 << 20


@dataclass(frozen=True)
class OpenVlaCheckpoint:
    """A folder with the configuration, statistics and weights of a policy."""

    folder: Path
    config: Mapping[str, Any]
    """`config.json`: timm_model_ids, image_sizes, text_config, n_action_bins, pad_to_multiple_of..."""
    norm_stats: Mapping[str, Any]
    """Data set -> statistics, from `config.json` and, after fine-tuning, from `dataset_statistics.json`."""
    means: tuple[tuple[float, ...], ...]
    """(3,) mean RGB for each vision tower, of pixels of 0 to 1, from `preprocessor_config.json`."""
    stds: tuple[tuple[float, ...], ...]
    """(3,) standard deviation for each vision tower, likewise."""
    weights: tuple[Path, ...]
    """The safetensors files of the network."""

    @property
    def image_size(self) -> int:
        """[px] height and width of the images."""
        return int(self.config["image_sizes"][0])

    @property
    def bins(self) -> int:
        """Number of edges of the action bins."""
        return int(self.config.get("n_action_bins", 256))

    @property
    def vocabulary(self) -> int:
        """Number of tokens of the tokenizer: the embedding's rows without those that pad it."""
        return int(self.config["text_config"].get("vocab_size", 32064)) - int(
            self.config["pad_to_multiple_of"]
        )

    @property
    def takes_proprio(self) -> bool:
        """Whether the checkpoint has a proprioception projector."""
        return (self.folder / PROPRIO).is_file()

    def fingerprint(self) -> str:
        """Return a SHA-256 in hex over configuration, statistics, and name, size and first MiB of each weights file."""
        digest = hashlib.sha256(json.dumps([self.config, self.norm_stats], sort_keys=True).encode())
        for path in self.weights:
            digest.update(f"{path.name}\0{path.stat().st_size}\0".encode())
            with path.open("rb") as file:
                digest.update(file.read(_PROBE_BYTES))
        return digest.hexdigest()


def read_checkpoint(folder: Path) -> OpenVlaCheckpoint:
    """Read the configuration of a checkpoint.

    Raises:
        PolicyError: a file is missing or broken, or the checkpoint is of a kind that is not supported. Its text is one
            line.
    """
    config = read_json_object(folder / "config.json", PolicyError)
    if config.get("model_type") != "openvla":
        raise PolicyError(
            f"{folder / 'config.json'} is of model_type {config.get('model_type')!r}, not 'openvla'"
        )
    lacking = [
        name
        for name in ("timm_model_ids", "image_sizes", "text_config", "pad_to_multiple_of")
        if name not in config
    ]
    if lacking:
        raise PolicyError(f"{folder / 'config.json'} lacks {', '.join(lacking)}; fetch it again")
    heads = sorted(path.name for path in folder.glob("action_head*"))
    if heads:
        raise PolicyError(
            f"{folder} has {heads[0]}: its actions are regressed by a head of its own, only action tokens are served; "
            "use a checkpoint without one, such as those of RLinf"
        )
    images = read_json_object(folder / "preprocessor_config.json", PolicyError)
    weights = tuple(sorted(folder.glob("model*.safetensors")))
    if not weights or not (folder / "tokenizer.json").is_file():
        raise PolicyError(f"{folder} lacks model*.safetensors or tokenizer.json; fetch the whole checkpoint")
    extra = read_json_object(folder / STATISTICS, PolicyError) if (folder / STATISTICS).is_file() else {}
    try:
        means, stds = (tuple(tuple(map(float, row)) for row in images[name]) for name in ("means", "stds"))
    except (KeyError, TypeError, ValueError) as error:
        raise PolicyError(f"{folder / 'preprocessor_config.json'} lacks {error}; fetch it again") from error
    return OpenVlaCheckpoint(
        folder, config, {**(config.get("norm_stats") or {}), **extra}, means, stds, weights
    )
