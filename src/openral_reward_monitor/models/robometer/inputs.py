"""Turns frames and a task into the tokens that the model was trained on.

Source of the prompt and its layout: `RBMBatchCollator` of https://github.com/robometer/robometer (MIT), for several
images with one progress token each. Source of the images' sizes: `qwen_vl_utils.fetch_image`, which it calls.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor
from transformers import AutoProcessor
from transformers.models.qwen2_vl.image_processing_qwen2_vl import smart_resize

from openral_core.errors import PolicyError
from openral_reward_monitor.models.robometer.config import (
    PROGRESS_TOKEN,
    SPECIAL_TOKENS,
)
from openral_sidecar.device_transfer import on_device

PROGRESS_PROMPT = (
    "The task for the robot is '{task}'. Given the trajectory video, predict the task progress at each frame, how "
    "far along the robot is towards completing the task, a float between 0 and 1, where 0 is the starting state and "
    "1 is when the task is completed. If the robot is not performing the same task, predict 0 progress."
)
"""The prompt that the model was trained on, word for word."""
MIN_TOKENS, MAX_TOKENS = 4, 16384
"""Least and greatest number of tokens of an image; the defaults of `qwen_vl_utils`."""

Frames = NDArray[np.uint8]


class RbmInputs:
    """The tokenizer and the image processor of a checkpoint."""

    def __init__(self, folder: Path, device: str = "cpu") -> None:
        """Load them.

        Args:
            folder: of the checkpoint.
            device: torch device on which images are normalised and cut into patches, and of the inputs.

        Raises:
            PolicyError: a file is missing, or the five tokens of Robometer are not in the vocabulary.
        """
        try:
            self._processor: Any = AutoProcessor.from_pretrained(
                folder, local_files_only=True, padding_side="right", use_fast=True
            )
        except (OSError, ValueError) as error:
            raise PolicyError(
                f"{folder}: the processor's files are incomplete: {error}; fetch them again"
            ) from error
        self._device = torch.device(device)
        self._tokenizer = self._processor.tokenizer
        absent = [token for token in SPECIAL_TOKENS if token not in self._tokenizer.get_vocab()]
        if absent:
            raise PolicyError(f"{folder}: the tokenizer lacks {', '.join(absent)}; use the checkpoint's own")

    @property
    def vocabulary(self) -> int:
        """Number of tokens, Robometer's five included."""
        return len(self._tokenizer)

    def token(self, text: str) -> int:
        """Return the id of one token."""
        return int(self._tokenizer.convert_tokens_to_ids(text))

    def progress(self, frames: Frames, task: str) -> dict[str, Tensor]:
        """Return the model's inputs for the progress at each of T frames (T, H, W, 3) uint8 RGB."""
        return self._encode([_text(PROGRESS_PROMPT.format(task=task)), *_shown(len(frames))], frames)

    def _encode(self, content: list[dict[str, str]], frames: Frames) -> dict[str, Tensor]:
        words = self._processor.apply_chat_template(
            [{"role": "user", "content": content}],
            tokenize=False,
            add_generation_prompt=False,
            add_vision_id=True,
        )
        pictures = list(on_device(self._sized(frames), self._device).permute(0, 3, 1, 2))
        encoded = self._processor(
            text=[words], images=pictures, do_resize=False, device=self._device, return_tensors="pt"
        )
        return {
            name: encoded[name].to(self._device)
            for name in ("input_ids", "attention_mask", "pixel_values", "image_grid_thw")
        }

    def _sized(self, frames: Frames) -> Frames:
        """Resize frames (T, H, W, 3) to sides that are multiples of a merged patch; they are resized nowhere else.

        It is done by Pillow, as in training, since torch's filters give other values.
        """
        images = self._processor.image_processor
        factor = images.patch_size * images.merge_size
        height, width = frames.shape[1:3]
        sides = smart_resize(height, width, factor, MIN_TOKENS * factor**2, MAX_TOKENS * factor**2)
        if sides == (height, width):
            return frames
        resized = [Image.fromarray(frame).resize((sides[1], sides[0])) for frame in frames]
        return np.stack([np.asarray(picture, np.uint8) for picture in resized])


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _shown(frames: int) -> list[dict[str, str]]:
    return [part for _ in range(frames) for part in ({"type": "image"}, _text(PROGRESS_TOKEN))]
