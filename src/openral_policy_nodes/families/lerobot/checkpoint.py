"""A LeRobot checkpoint on disk, checked before any of it is loaded. Standard library only."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openral_core.cli.printable import plain_line
from openral_core.errors import PolicyError
from openral_core.files.json_file import read_json_object

CONFIG = "config.json"
WEIGHTS = "model.safetensors"
PROCESSORS = ("policy_preprocessor.json", "policy_postprocessor.json")
STEPS = frozenset(
    {
        *("rename_observations_processor", "observation_processor", "device_processor"),
        *("normalizer_processor", "unnormalizer_processor", "tokenizer_processor"),
        *("to_batch_processor", "to_batch_processor_action", "to_batch_processor_observation"),
        *("to_batch_processor_complementary_data", "smolvla_new_line_processor", "pi0_new_line_processor"),
        *("pi05_prepare_state_tokenizer_processor_step", "libero_processor"),
        *("xvla_image_scale", "xvla_image_to_float", "xvla_imagenet_normalize", "xvla_add_domain_id"),
        "xvla_rotation_6d_to_axis_angle",
    }
)
"""Names in LeRobot's registry of the steps of the policies that are served.

Others may run code that the file names: `action_tokenizer_processor` and the steps of GR00T load tokenizers with
`trust_remote_code`, and a step without a registered name is whatever a module has under its `class`, such as
`shutil.copytree` where the module imports it.
"""
BACKBONE = "vlm"
"""Folder of a checkpoint with the configuration and tokenizer of its vision-language backbone.

LeRobot's own checkpoints only name the backbone's repository; with this folder they load without a network.
"""
_MIGRATE = "python -m lerobot.processor.migrate_policy_normalization --pretrained-path"
_PROBE_BYTES = 1 << 20


@dataclass(frozen=True)
class LeRobotCheckpoint:
    """A folder with the configuration, processors and weights of a policy."""

    folder: Path
    kind: str
    """LeRobot's name of the policy, such as smolvla, act, diffusion, pi0, xvla."""
    config: dict[str, Any]
    """Content of `config.json`."""

    @property
    def backbone(self) -> Path | None:
        """The folder of the backbone's configuration and tokenizer; None: the checkpoint has none."""
        folder = self.folder / BACKBONE
        return folder if (folder / CONFIG).is_file() else None

    def fingerprint(self) -> str:
        """Return a SHA-256 in hex that differs between checkpoints.

        It covers the names, sizes, and first and last MiB of all its JSON and safetensors files, so it takes
        milliseconds even for gigabytes of weights.
        """
        digest = hashlib.sha256()
        for path in sorted(self.folder.rglob("*")):
            if path.suffix not in (".json", ".safetensors") or not path.is_file():
                continue
            size = path.stat().st_size
            digest.update(f"{path.relative_to(self.folder).as_posix()}\0{size}\0".encode())
            with path.open("rb") as file:
                digest.update(file.read(_PROBE_BYTES))
                file.seek(max(0, size - _PROBE_BYTES))
                digest.update(file.read(_PROBE_BYTES))
        return digest.hexdigest()


def read_checkpoint(folder: Path) -> LeRobotCheckpoint:
    """Read the configuration of a checkpoint.

    Raises:
        PolicyError: a file is missing or broken, the weights are a pickle, or a processor has a step that is not in
            `STEPS`, which could run code of the checkpoint. Its text is one line with the fix.
    """
    config = read_json_object(folder / CONFIG, PolicyError)
    kind = config.get("type")
    if not isinstance(kind, str):
        raise PolicyError(f"{folder / CONFIG} has no 'type'; it is not the configuration of a LeRobot policy")
    if not (folder / WEIGHTS).is_file():
        pickles = sorted(
            path.name for path in folder.glob("*") if path.suffix in (".bin", ".pt", ".pth", ".ckpt")
        )
        other = f", only {', '.join(pickles)}, which would have to be unpickled" if pickles else ""
        raise PolicyError(f"{folder} has no {WEIGHTS}{other}; save the policy with its save_pretrained")
    for name in PROCESSORS:
        if not (folder / name).is_file():
            raise PolicyError(
                f"{folder} has no {name}, it is from before LeRobot 0.4; convert it with `{_MIGRATE} {folder}`"
            )
        steps = read_json_object(folder / name, PolicyError).get("steps", [])
        if not isinstance(steps, list):
            raise PolicyError(f"{folder / name} has no list of 'steps'; fetch it again")
        for step in steps:
            named = step if isinstance(step, dict) else {}
            origin = str(named.get("registry_name", named.get("class", "a step without a name")))
            if "registry_name" not in named or origin not in STEPS:
                raise PolicyError(
                    f"{folder / name} runs '{plain_line(origin)}'; only steps of LeRobot's own policies are allowed, "
                    "by their registry_name, since others may run code of the checkpoint; take it out"
                )
    return LeRobotCheckpoint(folder, kind, config)
