"""Imports torchvision with a torch that its compiled part does not fit: transforms and models work, operators do not.

With a CPU wheel of torch, the compiled part of a CUDA wheel of torchvision cannot be loaded, and the import fails with
`operator torchvision::nms does not exist`. LeRobot, Qwen3-VL and SmolVLM need only torchvision's Python part. Call
`ensure_torchvision` before the import of transformers or lerobot.
"""

from __future__ import annotations

import importlib
import sys

_OPERATORS = ("nms", "qnms")
_SIGNATURE = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"


def ensure_torchvision() -> None:
    """Import torchvision; if its compiled part cannot be loaded, declare the operators that the import needs.

    Calls of the declared operators fail with torch's own error.

    Raises:
        ImportError: torchvision is not installed.
        RuntimeError: the import fails for another reason than the compiled part.
    """
    try:
        importlib.import_module("torchvision")
    except RuntimeError as error:
        if "torchvision::" not in str(error):
            raise
        import torch

        for operator in _OPERATORS:
            torch.library.define(f"torchvision::{operator}", _SIGNATURE)
        for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
            del sys.modules[name]
        importlib.import_module("torchvision")
