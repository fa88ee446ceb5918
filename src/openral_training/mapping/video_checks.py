"""Checks, from file headers, that the cameras' images exist with the stated size and rate; one line per mismatch."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from openral_core.errors import DatasetError
from openral_data.lerobot_meta import size_of
from openral_data.lerobot_v3 import Dataset
from openral_data.video_reader import clips, video_header
from openral_training.mapping.dataset_recipe import SkillRecipe
from openral_training.mapping.row_checks import FETCH


def video_faults(dataset: Dataset, recipe: SkillRecipe) -> Iterator[str]:
    """Yield the mismatches in the headers of all videos, or in the first stored image, of the recipe's cameras."""
    for name in dict.fromkeys(recipe.cameras.values()):
        size = size_of(dataset.info["features"][name])
        try:
            if dataset.info["features"][name]["dtype"] == "video":
                yield from _each_video(dataset, name, size)
            else:
                seen = next((image.shape[:2] for image in dataset.images(name)), None)
                if seen is not None and seen != size:
                    yield _size_fault(f"{dataset.root / 'data'}: the images of {name}", seen, size)
        except DatasetError as error:
            yield str(error)


def _each_video(dataset: Dataset, name: str, size: tuple[int, int] | None) -> Iterator[str]:
    fps = float(dataset.info["fps"])
    ends: dict[str, float] = {}
    found = clips(dataset.root, dataset.info, dataset.episodes, name)
    for path in dict.fromkeys(clip.path for clip in found):
        header = video_header(path)
        if (header.height, header.width) != size:
            yield _size_fault(f"{path}: its frames", (header.height, header.width), size)
        if abs(header.fps - fps) > 0.01 * fps:
            yield (
                f"{path}: runs at {header.fps:g} frames a second, but meta/info.json says fps {fps:g}; "
                "correct fps there, or encode the video again"
            )
            continue
        ends[str(path)] = header.duration_s
    for number, clip in zip(dataset.episodes["episode_index"], found, strict=True):
        end = clip.start_s + clip.frames / fps
        if end > ends.get(str(clip.path), np.inf) + 1 / fps:
            yield (
                f"{clip.path}: ends at {ends[str(clip.path)]:.2f} s, but episode {number} goes on to {end:.2f} s; "
                f"{FETCH}"
            )
            return


def _size_fault(what: str, seen: tuple[int, ...], stated: tuple[int, int] | None) -> str:
    height, width = stated or (0, 0)
    return f"{what} are {seen[1]}x{seen[0]} px, but meta/info.json says {width}x{height}; correct the feature's shape"
