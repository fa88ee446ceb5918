"""The server of an open-vocabulary detector, which runs in a sidecar.

    python -m openral_perception.detectors.zeroshot.server --checkpoint FOLDER --device cuda

One operation, `find`: {"image": (H, W, 3) uint8 RGB, "words": str, "threshold": float} to {"boxes": (n, 4) float32,
left, top, right, bottom [px], "scores": (n,) float32 0..1}, the best first.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from openral_sidecar.environment.checkpoint_code import refuse_checkpoint_code
from openral_sidecar.environment.torchvision_shim import ensure_torchvision
from openral_sidecar.errors import SidecarRefused
from openral_sidecar.identity import Identity
from openral_sidecar.server import serve, server_arguments, server_options


class ZeroShotModel:
    """A loaded checkpoint of `AutoModelForZeroShotObjectDetection`."""

    def __init__(self, folder: Path, device: str) -> None:
        """Load it from `folder` to a torch device."""
        ensure_torchvision()
        refuse_checkpoint_code()
        from transformers import AutoModelForZeroShotObjectDetection, AutoProcessor

        self._device = device
        self._processor = AutoProcessor.from_pretrained(folder, local_files_only=True)
        loaded = AutoModelForZeroShotObjectDetection.from_pretrained(
            folder, local_files_only=True, use_safetensors=True
        )
        self._model = loaded.to(device).eval()

    def find(self, data: dict[str, Any]) -> dict[str, Any]:
        """Answer the operation `find`."""
        import torch

        image, words, threshold = data.get("image"), data.get("words"), data.get("threshold")
        if not isinstance(image, np.ndarray) or image.dtype != np.uint8 or image.shape[2:] != (3,):
            raise SidecarRefused("input", "image must be a (H, W, 3) uint8 array")
        if not isinstance(words, str) or not words.strip() or not isinstance(threshold, float):
            raise SidecarRefused("input", "words must say what to find, threshold the least score")
        inputs = self._processor(images=image, text=[[words]], return_tensors="pt").to(self._device)
        with torch.inference_mode():
            outputs = self._model(**inputs)
        found = self._processor.post_process_grounded_object_detection(
            outputs, threshold=threshold, target_sizes=[image.shape[:2]]
        )[0]
        scores = found["scores"].float().cpu().numpy()
        order = np.argsort(-scores)
        return {"boxes": found["boxes"].float().cpu().numpy()[order], "scores": scores[order]}


def zeroshot_parser() -> argparse.ArgumentParser:
    """Return the parser of the server's command line."""
    parser = argparse.ArgumentParser(description="Serves an open-vocabulary detector.")
    parser.add_argument("--checkpoint", type=Path, required=True, help="folder: weights, configs, tokenizer")
    parser.add_argument("--device", default="cpu", help="in torch's words: cpu, cuda, cuda:1")
    server_arguments(parser)
    return parser


def main() -> None:
    """Load the checkpoint that the command line names and serve it."""
    args = zeroshot_parser().parse_args()
    options = server_options(args)
    model = ZeroShotModel(args.checkpoint, args.device)
    serve({"find": model.find}, Identity(str(args.checkpoint.absolute())), options)


if __name__ == "__main__":
    main()
