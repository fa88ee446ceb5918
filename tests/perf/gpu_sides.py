"""Times one model as it is served here and as its own library runs it, in one process; runs in the model's sidecar.

    gpu_sides.py smolvla|robometer|openvla|rldx FOLDER DEVICE CALLS

Prints JSON: side -> {p50_ms, p99_ms, gb}, with `gb` the peak that torch allocated; and how far the answers of the first
two are apart. The side `whole` is ours with the preparation of pictures, where that is left out of the comparison.
The sides take turns, call by call, so that whatever else the machine does meets both.

    gpu_sides.py smolvla|robometer|openvla|rldx FOLDER DEVICE alone

Loads the model alone, as its manifest has it, asks it for its largest input, and prints what that took.

    gpu_sides.py smolvla|robometer|openvla|rldx|mini FOLDER DEVICE same

Loads the model on the CPU and on the device, and prints how far the answers to the same inputs, with the same seeds,
are apart: the largest difference, the median difference, and the standard deviation of the CPU's answers.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from openral_sidecar.environment.torchvision_shim import ensure_torchvision

ensure_torchvision()

import torch  # noqa: E402

Call = Callable[[int], Any]
"""Number of the call, from which its input is made -> the answer, on the host."""
ROOT = Path(__file__).resolve().parents[2]
WARM_UPS = 3
WORDS = "open the drawer"


def smolvla(folder: Path, device: str, *, alone: bool = False) -> dict[str, Call]:
    """A chunk for one robot with one camera: served in bf16, and by LeRobot under autocast to bf16 unless alone.

    Alone it may be any other policy of LeRobot, too.
    """
    from openral_policy_nodes.families.lerobot import model as served
    from openral_policy_nodes.families.lerobot.checkpoint import read_checkpoint

    checkpoint = read_checkpoint(folder)
    ours = served.LeRobotModel(checkpoint, device, "bf16", 0)
    [(camera, (_, height, width))] = ours.features.images.items()

    def call(model: served.LeRobotModel, number: int) -> Any:
        rng = np.random.default_rng(number)
        image = rng.integers(0, 256, (1, height, width, 3), np.uint8)
        state = rng.standard_normal((1, ours.features.state)).astype(np.float32)
        if (instants := ours.features.n_obs_steps) > 1:
            image, state = image[:, None].repeat(instants, 1), state[:, None].repeat(instants, 1)
        model.reset([WORDS])
        return model.predict({camera: image}, state, [WORDS], [WORDS])

    if alone:
        return {"ours": lambda number: call(ours, number)}
    cast, graph = served.cast_products, served.use_static_sampling
    served.cast_products = lambda policy, dtype: None
    served.use_static_sampling = lambda policy, record: None  # type: ignore[assignment, return-value]
    peer = served.LeRobotModel(checkpoint, device, "bf16", 0)
    served.cast_products, served.use_static_sampling = cast, graph
    return {"ours": lambda number: call(ours, number), "lerobot": lambda number: call(peer, number)}


def robometer(folder: Path, device: str) -> dict[str, Call]:
    """The forward pass of 8 frames of 480 x 640 px: packed here, and with bitsandbytes' own layers in their place."""
    from openral_reward_monitor.models.robometer.server import RobometerScorer

    scorer = RobometerScorer(folder, device=device, quantize=True)
    plain = RobometerScorer(folder, device="cpu", quantize=False)
    peer = _with_bitsandbytes(plain._model, scorer.packed, device)

    def asked(number: int) -> dict[str, torch.Tensor]:
        frames = np.random.default_rng(number).integers(0, 256, (8, 480, 640, 3), np.uint8)
        return scorer._inputs.progress(frames, WORDS)

    kept = {number: asked(number) for number in range(2)}

    def call(model: Any, number: int) -> Any:
        return model(kept[number % len(kept)]).progress.float().cpu().numpy()

    return {
        "ours": lambda number: call(scorer._model, number),
        "transformers + bitsandbytes": lambda number: call(peer, number),
        "whole": lambda number: scorer._model(asked(number)).progress.float().cpu().numpy(),
    }


def _with_bitsandbytes(model: Any, packed: Sequence[str], device: str) -> Any:
    """Put bitsandbytes' own layers in the place of those that are packed here, and bring the model to the device."""
    import bitsandbytes as bnb
    from torch import nn

    from openral_rskill.nf4.module_surgery import replace

    for name in packed:
        layer = model.get_submodule(name)
        assert isinstance(layer, nn.Linear)
        theirs = bnb.nn.Linear4bit(
            layer.in_features,
            layer.out_features,
            bias=layer.bias is not None,
            compute_dtype=torch.bfloat16,
            quant_type="nf4",
        )
        theirs.weight = bnb.nn.Params4bit(layer.weight.data, requires_grad=False, quant_type="nf4")
        theirs.bias = layer.bias
        replace(model, name, theirs.to(device))
    return model.to(device)


def rldx(folder: Path, device: str, *, alone: bool = False) -> dict[str, Call]:
    """A chunk for one robot with LIBERO's pictures: packed and recorded here, plain with bitsandbytes beside it."""
    from openral_policy_nodes.families.rldx.backbone import fill
    from openral_policy_nodes.families.rldx.cuda_graphs import record_parts
    from openral_policy_nodes.families.rldx.mixed_length_batch import let_sentences_differ
    from openral_sidecar.cuda_graph_call import CudaGraphs

    ours = _rldx_skeleton(folder)
    packed = fill(ours, folder, device)
    if device.startswith("cuda"):
        record_parts(ours, CudaGraphs())
    let_sentences_differ(ours)

    def call(model: Any, number: int) -> Any:
        torch.manual_seed(number)
        return model.infer([list(range(60, 80))], model.pixels(1)).cpu().numpy()

    if alone:
        return {"ours": lambda number: call(ours, number)}
    plain = _rldx_skeleton(folder)
    fill(plain, folder, "cpu", min_numel=1 << 40)
    peer = _with_bitsandbytes(plain, packed, device)
    return {
        "ours": lambda number: call(ours, number),
        "transformers + bitsandbytes": lambda number: call(peer, number),
    }


def _rldx_skeleton(folder: Path) -> Any:
    """Return upstream's parts without memory, in bf16 as its checkpoints are."""
    sys.path.insert(0, str(ROOT / "tools"))
    from accelerate import init_empty_weights
    from tiny_checkpoints.rldx import RldxParts, size_in

    from openral_rskill.nf4.module_surgery import cast_parameters

    with init_empty_weights(include_buffers=False):
        parts = RldxParts(size_in(folder), folder)
    cast_parameters(parts, torch.bfloat16)
    return parts


def openvla(folder: Path, device: str) -> dict[str, Call]:
    """A chunk of eight actions for one robot with one camera, in bf16: recorded, and launched kernel by kernel."""
    import copy

    ours = _openvla(folder, device, "bf16")
    peer = copy.copy(ours)  # the same weights
    peer.score = peer._scores
    call = _openvla_call
    return {
        "ours": lambda number: call(ours, number),
        "timm + transformers": lambda number: call(peer, number),
    }


def _openvla(folder: Path, device: str, dtype: str) -> Any:
    from openral_policy_nodes.families.openvla_oft.checkpoint import read_checkpoint
    from openral_policy_nodes.families.openvla_oft.model import OpenVLAOFTModel
    from openral_policy_nodes.families.openvla_oft.settings import OpenVlaSettings

    checkpoint = read_checkpoint(folder)
    return OpenVLAOFTModel(
        checkpoint, OpenVlaSettings(next(iter(checkpoint.norm_stats)), 8, 1), device, dtype
    )


def _openvla_call(model: Any, number: int) -> Any:
    rng, size = np.random.default_rng(number), model.checkpoint.image_size
    image = rng.integers(0, 256, (1, 1, size, size, 3), np.uint8)
    model.reset([WORDS])
    return model.predict(image, np.zeros((1, len(model.proprio.low)), np.float32), [WORDS], [WORDS])


def alone(name: str, folder: Path, device: str) -> dict[str, float]:
    """Load a model as it is served and ask it for its largest input; return seconds and peaks."""
    start = time.perf_counter()
    if name == "robometer":
        from openral_reward_monitor.models.robometer.sampling import MAX_FRAMES, MAX_SIDE
        from openral_reward_monitor.models.robometer.server import RobometerScorer

        scorer = RobometerScorer(folder, device=device, quantize=True)
        shown = np.random.default_rng(0).integers(0, 256, (MAX_FRAMES, MAX_SIDE, MAX_SIDE, 3), np.uint8)

        def call() -> None:
            scorer.score({"frames": shown, "task": WORDS})

    elif name == "openvla":
        packed = _openvla(folder, device, "int4")

        def call() -> None:
            _openvla_call(packed, 0)

    else:
        served = {"smolvla": smolvla, "rldx": rldx}[name](folder, device, alone=True)["ours"]

        def call() -> None:
            served(0)

    found = {"load_s": time.perf_counter() - start, "load_gb": _reserved(device), "host_gb": _host_gb()}
    for _ in range(2):  # the second call replays what the first has recorded
        call()
    used = 0.0
    if device.startswith("cuda"):
        free, there = torch.cuda.mem_get_info()
        used = (there - free) / 1e9
    return {**found, "peak_gb": _reserved(device), "card_gb": used}


def same(name: str, folder: Path, device: str) -> dict[str, float]:
    """Ask a model on the CPU and on the device the same; return how far the answers are apart."""
    answers = []
    for place in ("cpu", device):
        call = _served(name, folder, place)
        with torch.inference_mode():
            answers.append(np.stack([np.asarray(call(number), np.float64) for number in range(3)]))
    apart = np.abs(answers[0] - answers[1])
    return {
        "largest": float(apart.max()),
        "median": float(np.median(apart)),
        "spread": float(answers[0].std()),
        "numbers": apart.size,
    }


def _served(name: str, folder: Path, device: str) -> Call:
    """Return a model's call as it is served on a device."""
    if name == "mini":
        return _mini(folder, device)
    if name == "openvla":
        model = _openvla(folder, device, "bf16")
        return lambda number: _openvla_call(model, number)
    if name == "robometer":
        from openral_reward_monitor.models.robometer.server import RobometerScorer

        scorer = RobometerScorer(folder, device=device, quantize=True)

        def score(number: int) -> Any:
            frames = np.random.default_rng(number).integers(0, 256, (8, 224, 224, 3), np.uint8)
            return scorer._model(scorer._inputs.progress(frames, WORDS)).progress.float().cpu().numpy()

        return score
    return {"smolvla": smolvla, "rldx": rldx}[name](folder, device, alone=True)["ours"]


def _mini(folder: Path, device: str) -> Call:
    """A chunk for eight robots, from a packaged policy of the family `mini`."""
    from openral_core.types import PolicyBatch
    from openral_policy_nodes.families.mini.policy import load_folder

    policy = load_folder(folder, device)
    config, robots = policy.config, 8

    def call(number: int) -> Any:
        rng, patch = np.random.default_rng(number), config.image_size // 6
        images = {
            camera: rng.integers(0, 256, (robots, 6, 6, 3), np.uint8).repeat(patch, 1).repeat(patch, 2)
            for camera in config.cameras
        }
        state = rng.standard_normal((robots, config.state_dim)).astype(np.float32)
        return policy.predict(PolicyBatch(images, state, [WORDS] * robots))

    return call


def _reserved(device: str) -> float:
    """[GB] that torch's allocator has taken at most."""
    return torch.cuda.max_memory_reserved() / 1e9 if device.startswith("cuda") else 0.0


def _host_gb() -> float:
    """[GB] of the host's memory that this process had at most, pages of mapped files included."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def measured(calls: dict[str, Call], device: str, count: int) -> dict[str, Any]:
    """Return each side's times and memory, and the largest difference between their answers."""
    times: dict[str, list[float]] = {side: [] for side in calls}
    peaks, apart = dict.fromkeys(calls, 0.0), 0.0
    on_gpu = device.startswith("cuda")
    with torch.inference_mode():
        for number in range(WARM_UPS + count):
            answers = []
            for side, call in calls.items():
                if on_gpu:
                    torch.cuda.synchronize()
                    torch.cuda.reset_peak_memory_stats()
                    held = torch.cuda.memory_allocated()
                start = time.perf_counter()
                answers.append(call(number))
                times[side].append(1e3 * (time.perf_counter() - start))
                if on_gpu:
                    peaks[side] = max(peaks[side], (torch.cuda.max_memory_allocated() - held) / 1e9)
            apart = max(apart, float(np.abs(answers[0] - answers[1]).max()))
    sides = {
        side: {
            "p50_ms": float(np.percentile(found[WARM_UPS:], 50)),
            "p99_ms": float(np.percentile(found[WARM_UPS:], 99)),
            "gb": peaks[side],
        }
        for side, found in times.items()
    }
    return {"sides": sides, "apart": apart, "torch": torch.__version__}


def main(model: str, folder: str, device: str, count: str) -> None:
    if count == "alone":
        found: dict[str, Any] = alone(model, Path(folder), device)
    elif count == "same":
        found = same(model, Path(folder), device)
    else:
        makers: dict[str, Callable[[Path, str], dict[str, Call]]] = {
            "smolvla": smolvla,
            "robometer": robometer,
            "openvla": openvla,
            "rldx": rldx,
        }
        found = measured(makers[model](Path(folder), device), device, int(count))
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:5])
