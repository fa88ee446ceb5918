"""An OpenVLA-OFT checkpoint on disk, looked through before anything of it is loaded. Standard library only."""

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
"""The projector of the proprioception. Upstream saves it as a pickle, `proprio_projector--<step>_checkpoint.pt`;
`openral rskill convert` makes this file of it."""
_PROBE_BYTES = 1 << 20


@dataclass(frozen=True)
class OpenVlaCheckpoint:
    """A folder with everything that the policy needs."""

    folder: Path
    config: Mapping[str, Any]
    """`config.json`: timm_model_ids, image_sizes, text_config, n_action_bins, pad_to_multiple_of..."""
    norm_stats: Mapping[str, Any]
    """Data set -> statistics; those of fine-tuning beside those in `config.json`."""
    means: tuple[tuple[float, ...], ...]
    """One (3,) a vision tower, from `preprocessor_config.json`."""
    stds: tuple[tuple[float, ...], ...]
    weights: tuple[Path, ...]
    """The safetensors files of the network."""

    @property
    def image_size(self) -> int:
        """[px] height and width of the images."""
        return int(self.config["image_sizes"][0])

    @property
    def bins(self) -> int:
        """Edges of the action bins."""
        return int(self.config.get("n_action_bins", 256))

    @property
    def vocabulary(self) -> int:
        """Words of the tokenizer: the embedding's rows without those that pad it."""
        return int(self.config["text_config"].get("vocab_size", 32064)) - int(
            self.config["pad_to_multiple_of"]
        )

    @property
    def takes_proprio(self) -> bool:
        """Whether the checkpoint has a projector of the proprioception."""
        return (self.folder / PROPRIO).is_file()

    def fingerprint(self) -> str:
        """Return a SHA-256 in hex over the configuration and the first MiB and size of each weights file."""
        digest = hashlib.sha256(json.dumps([self.config, self.norm_stats], sort_keys=True).encode())
        for path in self.weights:
            digest.update(f"{path.name}\0{path.stat().st_size}\0".encode())
            with path.open("rb") as file:
                digest.update(file.read(_PROBE_BYTES))
        return digest.hexdigest()


def read_checkpoint(folder: Path) -> OpenVlaCheckpoint:
    """Read the configuration of a checkpoint.

    Raises:
        PolicyError: a file is missing or broken, or the checkpoint is of a kind that is not served; one line.
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
    return OpenVlaCheckpoint(folder, config, {**config.get("norm_stats", {}), **extra}, means, stds, weights)
