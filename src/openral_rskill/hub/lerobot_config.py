"""Reads the values of a manifest that the `config.json` of a LeRobot policy determines.

Fields as LeRobot 0.4 writes them (`lerobot/configs/policies.py` and the configuration of each policy): `type`,
`input_features` and `output_features` (name -> type VISUAL, STATE, ENV or ACTION, and shape), `chunk_size` or
`horizon`, `n_action_steps`, `n_obs_steps`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openral_core.errors import WeightsError
from openral_core.files.json_file import read_json_object
from openral_core.manifest.sensors import MOST_STEPS_BACK

CONFIG = "config.json"
PREPROCESSOR, POSTPROCESSOR = "policy_preprocessor.json", "policy_postprocessor.json"
FAMILIES = ("act", "diffusion", "pi0", "pi05", "smolvla", "xvla")
"""Policies of LeRobot that openral has a family for."""
MIGRATE = "python -m lerobot.processor.migrate_policy_normalization --pretrained-path"
_EMPTY_CAMERA = "observation.images.empty_camera_"


@dataclass(frozen=True)
class PolicyFacts:
    """The numbers of a manifest that a checkpoint fixes."""

    family: str
    cameras: tuple[str, ...]
    """Names of the images, as the checkpoint knows them."""
    image_size: tuple[int, int] | None
    """[height, width] in px of the demonstrations' images, where all cameras have the same."""
    state_dim: int | None
    action_dim: int
    chunk_size: int
    """Actions that one inference gives."""
    n_action_steps: int
    """Of them, how many LeRobot executes."""
    n_obs_steps: int
    """Consecutive control steps that the policy sees at once."""


def read_policy(folder: Path) -> PolicyFacts:
    """Read a checkpoint's configuration.

    Raises:
        WeightsError: it is none of LeRobot's, of a policy without a family, or from before LeRobot 0.4.
    """
    config = read_json_object(folder / CONFIG, WeightsError)
    family = config.get("type")
    if family not in FAMILIES:
        named = f"type '{family}'" if family else "no `type`"
        raise WeightsError(
            f"{folder / CONFIG} has {named}; a manifest can be written for LeRobot's {', '.join(FAMILIES)}. "
            "For another family copy a skill of rskills/ and fix it with openral rskill check"
        )
    for name in (PREPROCESSOR, POSTPROCESSOR):
        if not (folder / name).is_file():
            raise WeightsError(
                f"{folder} has no {name}, it is from before LeRobot 0.4; convert it with `{MIGRATE} {folder}`"
            )
    try:
        facts = _facts(str(family), config)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise WeightsError(f"{folder / CONFIG} lacks {error}; is it whole?") from error
    if facts.n_obs_steps > MOST_STEPS_BACK:
        raise WeightsError(
            f"{folder / CONFIG} has n_obs_steps {facts.n_obs_steps}, at most {MOST_STEPS_BACK} are taken; is it whole?"
        )
    return facts


def _facts(family: str, config: dict[str, Any]) -> PolicyFacts:
    inputs = config["input_features"]
    images = {
        name: tuple(int(side) for side in feature["shape"])
        for name, feature in inputs.items()
        if feature["type"] == "VISUAL" and not name.startswith(_EMPTY_CAMERA)
    }
    sizes = {shape[-2:] for shape in images.values()}
    state = inputs.get("observation.state")
    steps = int(config["n_action_steps"])
    size = sizes.pop() if len(sizes) == 1 else None
    return PolicyFacts(
        family=family,
        cameras=tuple(sorted(images)),
        image_size=(size[0], size[1]) if size else None,
        state_dim=int(state["shape"][0]) if state else None,
        action_dim=int(config["output_features"]["action"]["shape"][0]),
        # A diffusion policy hands out the executed part of its horizon only.
        chunk_size=steps if family == "diffusion" else int(config["chunk_size"]),
        n_action_steps=steps,
        n_obs_steps=int(config.get("n_obs_steps", 1)),
    )
