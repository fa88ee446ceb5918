"""The server of a Robometer checkpoint, which runs in a sidecar.

    python -m openral_reward_monitor.models.robometer.server --checkpoint FOLDER --port 5769

One operation, `score`: {"frames": (T, H, W, 3) uint8 RGB, T at most 8, H and W at most 640, oldest first; "task": str}
to {"progress": (T,) float32 0..1, "success": (T,) float32 0..1}. The same input gives the same bits, in this process
and in the next.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import torch

from openral_reward_monitor.models.robometer.arguments import robometer_parser
from openral_reward_monitor.models.robometer.decode import decode_progress, decode_success
from openral_reward_monitor.models.robometer.identity import identity_of
from openral_reward_monitor.models.robometer.sampling import MAX_FRAMES, MAX_SIDE
from openral_rskill.nf4.packable_weights import MIN_NUMEL
from openral_sidecar.cuda_graph_call import CudaGraphs, Recorder
from openral_sidecar.cuda_graph_layers import DecoderRun, VisionRun, record_decoder, record_vision
from openral_sidecar.environment.checkpoint_code import refuse_checkpoint_code
from openral_sidecar.environment.torchvision_shim import ensure_torchvision
from openral_sidecar.errors import SidecarRefused
from openral_sidecar.server import serve, server_options


def pin_kernels() -> None:
    """Make results reproducible bit by bit: allow only deterministic kernels, and no reduced precision.

    Flash and memory-efficient attention stay allowed: their forward passes sum in a fixed order, and attention without
    them would keep a float32 matrix of all pairs of tokens.
    """
    torch.use_deterministic_algorithms(True)
    # Else every uninitialized tensor is filled, 9 GB of a network whose parameters are replaced by the checkpoint's.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    torch.backends.cudnn.benchmark = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cuda.enable_cudnn_sdp(False)


class RobometerScorer:
    """A loaded checkpoint."""

    def __init__(self, folder: Path, *, device: str, quantize: bool, min_numel: int = MIN_NUMEL) -> None:
        """Load it.

        Args:
            folder: of the checkpoint.
            device: torch device.
            quantize: whether plain weights are packed in place; packed ones stay packed either way.
            min_numel: least number of weights of a layer that is packed in place.

        Raises:
            PolicyError: a file is missing or does not fit the others.
        """
        ensure_torchvision()
        refuse_checkpoint_code()
        from openral_reward_monitor.models.robometer.checkpoint import load_rbm
        from openral_reward_monitor.models.robometer.inputs import RbmInputs

        pin_kernels()
        self._device = device
        self._inputs = RbmInputs(folder, device)
        self._model, self.packed = load_rbm(
            folder, self._inputs, device=device, quantize=quantize, min_numel=min_numel
        )
        self._runs = record_parts(self._model.model, CudaGraphs()) if device.startswith("cuda") else []

    def describe(self) -> dict[str, Any]:
        """Return facts about the model for clients: bins, most frames, vocabulary, packed layers, bytes and device."""
        head = self._model.progress_head[-1]
        return {
            "bins": head.out_features,
            "max_frames": MAX_FRAMES,
            "vocabulary": self._inputs.vocabulary,
            "packed_modules": len(self.packed),
            "weight_bytes": sum(value.numel() * value.element_size() for value in self._model.parameters()),
            "device": self._device,
        }

    def score(self, data: dict[str, Any]) -> dict[str, Any]:
        """Answer the operation `score`."""
        frames, task = data.get("frames"), data.get("task")
        if not isinstance(frames, np.ndarray) or frames.dtype != np.uint8 or frames.shape[3:] != (3,):
            raise SidecarRefused("input", "frames must be a (T, H, W, 3) uint8 array")
        if not 1 <= len(frames) <= MAX_FRAMES or 0 in frames.shape:
            raise SidecarRefused(
                "input", f"frames are {frames.shape}; send 1 to {MAX_FRAMES} that are not empty"
            )
        if max(frames.shape[1:3]) > MAX_SIDE:
            raise SidecarRefused(
                "input",
                f"frames are {frames.shape[2]} x {frames.shape[1]} px, and a side has at most {MAX_SIDE}, for which "
                "memory is counted; make them smaller",
            )
        if not isinstance(task, str) or not task.strip():
            raise SidecarRefused("input", "task must say in words what the attempt is for")
        for run in self._runs:
            run.call.records = (
                len(frames) == MAX_FRAMES
            )  # the usual number, since an attempt soon has as many
        logits = self._model(self._inputs.progress(frames, task))
        return {
            "progress": decode_progress(logits.progress.cpu().numpy()),
            "success": decode_success(logits.success.cpu().numpy()),
        }


def record_parts(model: Any, record: Recorder) -> list[DecoderRun | VisionRun]:
    """Record the layers of Qwen3-VL as CUDA graphs, and return the recorded parts.

    The first decoder layers are left out, since features of the images are added to their outputs (DeepStack).

    Args:
        model: `Qwen3VLModel`, on its device.
        record: see `CudaGraphCall`.
    """
    first = len(model.visual.deepstack_visual_indexes)
    return [*record_vision(model.visual, record), *record_decoder(model.language_model, first, record)]


def main() -> None:
    """Load the checkpoint that the command line names and serve it."""
    args = robometer_parser().parse_args()
    options = server_options(args)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    scorer = RobometerScorer(
        args.checkpoint, device=args.device, quantize=args.quantization == "nf4", min_numel=args.min_numel
    )
    identity = identity_of(args.checkpoint.absolute(), args.quantization)
    serve({"score": scorer.score}, identity, options, describe=scorer.describe)


if __name__ == "__main__":
    main()
