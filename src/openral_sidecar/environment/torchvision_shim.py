"""torchvision beside a torch that its compiled half does not fit: its transforms and models work, its ops do not.

Wheels of torch for the CPU come without one of torchvision, and the one for CUDA cannot load its compiled half
beside them; the import then dies of `operator torchvision::nms does not exist`. LeRobot, Qwen3-VL and SmolVLM need
torchvision's Python half only. Call `ensure_torchvision` before transformers or lerobot are imported.
"""

from __future__ import annotations

import importlib
import sys

_OPERATORS = ("nms", "qnms")
_SIGNATURE = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"


def ensure_torchvision() -> None:
    """Import torchvision; where its compiled half cannot be loaded, declare the operators whose absence stops it.

    Does nothing beside a torchvision that fits. Calls of the declared operators fail with torch's own error.

    Raises:
        ImportError: there is no torchvision.
        RuntimeError: it fails for another reason than its compiled half.
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
