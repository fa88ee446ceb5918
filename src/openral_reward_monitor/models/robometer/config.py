"""The part of a Robometer checkpoint's `config.yaml` that defines its network.

Upstream writes its whole ExperimentConfig there (training, data, logging); keys that are not read here do not change
the network or its inputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from openral_core.errors import PolicyError

FILE = "config.yaml"
BACKBONE = "Qwen3"
"""Upstream picks the backbone by this part of `model.base_model_id`; others (SmolVLM, Qwen2.5, Molmo) are not built."""
SPECIAL_TOKENS = ("<|split_token|>", "<|reward_token|>", "<|pref_token|>", "<|sim_token|>", "<|prog_token|>")
"""Added to Qwen's vocabulary in this order, which fixes their ids: 151669 words become 151674."""
DTYPES = ("bfloat16", "float16", "float32")
PROGRESS_TOKEN = "<|prog_token|>"
"""Follows each image; the two heads read its hidden state."""


@dataclass(frozen=True)
class RbmConfig:
    """Backbone, shape of the progress head, and dtype."""

    base_model_id: str
    """Model that it was fine-tuned from, such as Qwen/Qwen3-VL-4B-Instruct."""
    progress_bins: int
    """Number of outputs of the progress head."""
    dtype: str
    """Name in torch of the weights' dtype."""


def read_rbm_config(folder: Path) -> RbmConfig:
    """Read `config.yaml` of a checkpoint.

    Raises:
        PolicyError: it cannot be read, or defines a network that is not supported; the text names the value.
    """
    path = folder / FILE
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise PolicyError(
            f"{path}: cannot be read ({error}); it is part of a Robometer checkpoint"
        ) from error
    model = _section(document, "model")
    # The loss section decided the head during training; upstream copies its two values into the model section.
    values = {**_section(document, "loss"), **model}
    base = str(values.get("base_model_id", ""))
    if BACKBONE not in base:
        raise PolicyError(f"{path}: model.base_model_id is '{base}'; only {BACKBONE}-VL backbones are built")
    for name in ("use_multi_image", "use_per_frame_progress_token"):
        if values.get(name) is not True:
            raise PolicyError(
                f"{path}: model.{name} is {values.get(name)}; only checkpoints with one progress token a frame are run"
            )
    if values.get("progress_loss_type") != "discrete":
        raise PolicyError(
            f"{path}: progress_loss_type is {values.get('progress_loss_type')}; only discrete heads are built"
        )
    bins = values.get("progress_discrete_bins", 10)
    if not isinstance(bins, int) or bins < 2:
        raise PolicyError(f"{path}: progress_discrete_bins is {bins}; it must be a whole number from 2")
    dtype = values.get("torch_dtype", "bfloat16")
    if dtype not in DTYPES:
        raise PolicyError(f"{path}: torch_dtype is {dtype}; it must be {', '.join(DTYPES)}")
    return RbmConfig(base, bins, dtype)


def _section(document: Any, name: str) -> Mapping[str, Any]:
    section = document.get(name) if isinstance(document, Mapping) else None
    return section if isinstance(section, Mapping) else {}
