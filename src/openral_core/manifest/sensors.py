"""What a skill must see, and how its images are prepared."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated

from pydantic import Field, field_validator

from openral_core.schema import Count, Many, Schema, Word
from openral_core.vocabulary import Modality

_Side = Annotated[int, Field(gt=0, le=4096)]
ImageSize = Annotated[tuple[_Side, _Side], Field(strict=False)]
"""[height, width] in pixels; each image is made as large, whatever memory that takes."""

MOST_STEPS_BACK = 512
"""Control steps that a skill may look back: the images of all of them are in memory while it runs."""


class SensorRequirement(Schema):
    """One sensor that the skill needs."""

    modality: Modality
    """What the sensor measures."""
    vla_feature_key: Word | None = None
    """Name under which the checkpoint knows the image, such as observation.images.camera1; without one, any
    sensor of the modality will do."""
    min_width: Count | None = None
    """[px]"""
    min_height: Count | None = None
    """[px]"""
    count: Count = 1
    """How many sensors of this sort; only for those without a feature key."""


class ImagePreprocessing(Schema):
    """From the scene's upright image to the one that the checkpoint was trained on."""

    flip_180: bool = False
    """Turn the image by 180 degrees."""
    flip_vertical: bool = False
    """Mirror the image top to bottom."""
    image_size: ImageSize | None = None
    """[height, width] in px that the checkpoint takes; absent: as the scene sends it."""
    history: Many[int] = ()
    """Control steps back from now at which the checkpoint looks, oldest first, such as [-6, -4, -2, 0]; absent:
    it sees the newest image only. Before the episode's first image stands that image again."""
    input_template: Word = "observation.images.{cam}"
    """How the checkpoint's name of an image is made from a camera's short name."""
    aliases: dict[Word, Word] = Field(default_factory=dict)
    """Feature key of the scene, or its last part -> name of the input in the checkpoint, where they differ. A
    short name (no dot) is put into `input_template`: {top: image} is observation.images.image."""
    norm_tag: Word | None = None
    """Which of the checkpoint's own normalisation statistics holds."""
    image_max_crops: Count | None = None
    """Upper bound of image tiles, for backbones that tile."""

    def input_name(self, feature_key: str) -> str:
        """Return the checkpoint's name of the image that the scene calls `feature_key`."""
        alias = self.aliases.get(feature_key) or self.aliases.get(feature_key.rsplit(".", 1)[-1])
        if alias is None:
            return feature_key
        return alias if "." in alias else self.input_template.replace("{cam}", alias)

    @field_validator("input_template")
    @classmethod
    def _has_a_place(cls, value: str) -> str:
        if "{cam}" not in value:
            raise ValueError(f"{value} has no place for the name; write observation.images.{{cam}}")
        return value

    @field_validator("history")
    @classmethod
    def _history_ends_now(cls, value: tuple[int, ...]) -> tuple[int, ...]:
        if value and (value[-1] != 0 or any(a >= b for a, b in pairwise(value))):
            raise ValueError(f"{list(value)} does not count up to 0; write steps such as [-6, -4, -2, 0]")
        if value and value[0] < -MOST_STEPS_BACK:
            raise ValueError(
                f"{value[0]} is further back than {MOST_STEPS_BACK} control steps, whose images are all kept; "
                "write control steps, not milliseconds"
            )
        return value
