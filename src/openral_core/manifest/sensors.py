"""What a skill must see, and how its images are prepared."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from openral_core.schema import Count, Schema, Word
from openral_core.vocabulary import Modality

ImageSize = Annotated[tuple[Count, Count], Field(strict=False)]
"""[height, width] in pixels."""


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
    input_template: Word = "observation.images.{cam}"
    """How a feature key is made from a camera's short name."""
    aliases: dict[Word, Word] = Field(default_factory=dict)
    """Feature key of the scene -> name of the input in the checkpoint, where they differ."""
    norm_tag: Word | None = None
    """Which of the checkpoint's own normalisation statistics holds."""
    image_max_crops: Count | None = None
    """Upper bound of image tiles, for backbones that tile."""
