"""Settings of an OpenVLA-OFT checkpoint that are in the manifest and not in its files; also the server's flags."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from openral_core.errors import PolicyError


@dataclass(frozen=True)
class OpenVlaSettings:
    """Settings of inference. All but the first three are from the manifest's `policy_extras`."""

    norm_tag: str
    """Data set of the statistics (upstream's `unnorm_key`); the manifest's `image_preprocessing.norm_tag`."""
    rows: int
    """H, actions of a chunk (upstream's `num_action_chunks`); the manifest's `chunk_size`."""
    cameras: int
    """N, images of an observation; number of RGB sensors of the manifest."""
    center_crop: bool = True
    """Whether images are cropped to the central 90 %, as checkpoints need that were trained with random crops."""
    stop_token: bool = True
    """Whether `</s>` follows the action tokens, as in moojink's code but not in RLinf's."""
    temperature: float = 0.0
    """0: the best token; else tokens are sampled, as RLinf does with 1.6 after its reinforcement learning."""
    seed: int = 0
    """Seed of the sampling."""

    def __post_init__(self) -> None:
        """Raise PolicyError for values of another type, and for negative numbers."""
        for field in fields(self):
            value, wanted = getattr(self, field.name), field.type
            fits = type(value).__name__ == wanted or (wanted == "float" and type(value) is int)
            if not fits or (not isinstance(value, str | bool) and value < 0):
                raise PolicyError(
                    f"policy_extras.{field.name}: {value!r} is no {wanted} of at least 0; correct it"
                )

    def arguments(self) -> list[str]:
        """Return the settings as command-line arguments of the server."""
        words = []
        for field in fields(self):
            words += [f"--{field.name.replace('_', '-')}", str(getattr(self, field.name))]
        return words

    @classmethod
    def of_extras(cls, norm_tag: str, rows: int, cameras: int, extras: Mapping[str, Any]) -> OpenVlaSettings:
        """Return the settings with those of a manifest's `policy_extras`.

        Raises:
            PolicyError: a key is unknown, or its value is invalid.
        """
        known = {field.name for field in fields(cls)} - {"norm_tag", "rows", "cameras"}
        unknown = sorted(set(extras) - known)
        if unknown:
            raise PolicyError(
                f"policy_extras: {', '.join(unknown)} unknown; known are {', '.join(sorted(known))}"
            )
        return cls(norm_tag, rows, cameras, **extras)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags that `OpenVlaSettings.arguments` returns."""
    types: dict[str, Callable[[str], Any]] = {
        "str": str,
        "int": int,
        "float": float,
        "bool": _truth,
    }
    for field in fields(OpenVlaSettings):
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=types[str(field.type)], required=True)


def _truth(word: str) -> bool:
    if word not in ("True", "False"):
        raise argparse.ArgumentTypeError(f"{word!r} is neither True nor False")
    return word == "True"


def settings_of(arguments: argparse.Namespace) -> OpenVlaSettings:
    """Return the settings from parsed flags of `add_arguments`."""
    return OpenVlaSettings(
        **{field.name: getattr(arguments, field.name) for field in fields(OpenVlaSettings)}
    )
