"""A world model of openral on disk: `config.json`, `model.safetensors`, `dataset_statistics.json`, `dataset/`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from pydantic import TypeAdapter
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from openral_core.errors import PolicyError
from openral_core.files.atomic import write_atomically
from openral_core.files.json_file import read_json_object
from openral_core.schema import Positive
from openral_rskill.weights_writing import replaced_weights
from openral_training.world_model.experience import held_out_ids
from openral_training.world_model.network import WorldNetwork, WorldShape
from openral_training.world_model.starts import Starts, save_starts
from openral_training.world_model.statistics import ActionScale, save_action_scale

CONFIG, WEIGHTS = "config.json", "model.safetensors"
FAMILY = "openral"
KEPT_EXACT = ".dynamics.change."
"""Part of the names of weights that are stored as float32, since their outputs are summed over a whole chunk."""


@dataclass(frozen=True)
class WorldModelConfig:
    """The fields of `config.json`."""

    shape: WorldShape
    """Shape of the networks."""
    words: dict[str, str]
    """Sentence of each task whose success is predicted."""
    camera: str
    """Feature key of the camera whose images are predicted."""
    held_out: float
    """Share of the initial states that were not trained on, see `experience.held_out`."""
    doubt_limit: Positive
    """Uncertainty above which predictions are not to be trusted, see `WorldNetwork.uncertainty`."""


_CONFIG = TypeAdapter(WorldModelConfig)


def save_world_model(
    folder: Path, network: WorldNetwork, config: WorldModelConfig, scale: ActionScale, starts: Starts
) -> None:
    """Write a world model; weights in bf16, statistics of the data in float32, `config.json` last.

    Args:
        folder: is created if it does not exist.
        network: the trained networks.
        config: content of `config.json`.
        scale: of actions.
        starts: first frames of episodes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    save_starts(folder, starts)
    save_action_scale(folder, scale)
    buffers = {name for name, _ in network.named_buffers()}
    tensors = {
        name: value.to(
            torch.float32 if name in buffers or KEPT_EXACT in name else torch.bfloat16
        ).contiguous()
        for name, value in network.state_dict().items()
    }
    with replaced_weights(folder / WEIGHTS) as partial:
        save_file(tensors, partial)
    write_atomically(folder / CONFIG, json.dumps({"family": FAMILY, **asdict(config)}, indent=2) + "\n")


def trained_init_ids(folder: Path, starts: Starts, recorded: Iterable[int]) -> set[int]:
    """Return the initial states that a world model was trained on.

    Args:
        folder: of the world model.
        starts: of the world model: those of all its rollouts, of which the share in its config was not trained on.
        recorded: initial states of the rollouts at hand. They take the place of the starts, with a tenth held out,
            where there is no config or it has no share: then the world model is not openral's, and its starts have no
            numbers.

    Raises:
        PolicyError: the config cannot be read, or its share is none.
    """
    path = folder / CONFIG
    content = read_json_object(path, PolicyError) if path.is_file() else {}
    share = content.get("held_out")
    if share is not None and (type(share) not in (int, float) or not 0 <= share <= 1):
        raise PolicyError(
            f"{path}: held_out is {share!s:.40}, needed a share, 0 to 1; train the world model anew"
        )
    known = set(recorded) if share is None else set(starts.all_init_ids)
    return known - held_out_ids(known, 0.1 if share is None else float(share))


def load_network(folder: Path) -> tuple[WorldNetwork, WorldModelConfig]:
    """Read networks and config of a world model, as float32.

    Raises:
        PolicyError: a file is missing or does not fit.
    """
    try:
        content = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        content.pop("family")
        config = WorldModelConfig(**{**content, "shape": WorldShape(**content["shape"])})
        config = _CONFIG.validate_json(json.dumps(asdict(config)), strict=True)  # a dataclass takes any type
        network = WorldNetwork(config.shape)
        network.load_state_dict({name: value.float() for name, value in load_file(folder / WEIGHTS).items()})
    except (
        OSError,
        SafetensorError,
        ValueError,
        TypeError,
        KeyError,
        AttributeError,
        ArithmeticError,
        AssertionError,
        RuntimeError,
    ) as error:
        why = " ".join(str(error).split())[:200]
        raise PolicyError(
            f"{folder}: not a world model of openral ({why}); `openral train world-model` writes one"
        ) from error
    return network.eval(), config
