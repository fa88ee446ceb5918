"""What can only be shown where torch, transformers and bitsandbytes are: run in robometer's sidecar, answers as JSON.

    robometer_proofs.py real | threads
    robometer_proofs.py packing | graph | memory | pictures | recorded FOLDER

FOLDER is a tiny checkpoint (random weights, proves plumbing only).
"""

# ruff: noqa: E402  the shim comes before anything that imports torchvision
from __future__ import annotations

import copy
import json
import sys
from pathlib import Path
from typing import Any

from openral_sidecar.environment.torchvision_shim import ensure_torchvision

ensure_torchvision()
import numpy as np
import torch
from accelerate import init_empty_weights
from bitsandbytes.nn import Params4bit
from PIL import Image
from safetensors import safe_open
from storage_meter import CopyMeter, StorageMeter
from traced import traced
from transformers import Qwen3VLConfig

from openral_reward_monitor.models.robometer.checkpoint import build_skeleton, load_rbm
from openral_reward_monitor.models.robometer.config import PROGRESS_TOKEN
from openral_reward_monitor.models.robometer.inputs import RbmInputs
from openral_reward_monitor.models.robometer.pack import pack_folder
from openral_reward_monitor.models.robometer.rbm import RBM
from openral_reward_monitor.models.robometer.server import pin_kernels, record_parts
from openral_rskill.nf4 import quantize
from openral_rskill.nf4.host_embedding import HostEmbedding
from openral_rskill.nf4.load import load_checkpoint
from openral_rskill.nf4.rule import linears_to_pack
from openral_rskill.weight_shards import weight_files

LEAST = 4096
WORDS = ("input_ids", "attention_mask", "image_grid_thw")
"""Inputs of 8 bytes a number that are made on the CPU."""
REAL = {
    "text_config": {
        "hidden_size": 2560,
        "intermediate_size": 9728,
        "num_hidden_layers": 36,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "vocab_size": 151674,
        "rope_theta": 5_000_000,
        "rope_scaling": {"mrope_interleaved": True, "mrope_section": [24, 20, 20], "rope_type": "default"},
    },
    "vision_config": {
        "depth": 24,
        "hidden_size": 1024,
        "intermediate_size": 4096,
        "num_heads": 16,
        "out_hidden_size": 2560,
        "patch_size": 16,
        "num_position_embeddings": 2304,
        "deepstack_visual_indexes": [5, 11, 17],
    },
}
"""Qwen/Qwen3-VL-4B-Instruct's config.json with Robometer's vocabulary."""


def real() -> dict[str, Any]:
    """The graph of the 4-B model, without weights."""
    torch.set_default_dtype(torch.bfloat16)
    with init_empty_weights(include_buffers=False):
        model = RBM(Qwen3VLConfig.from_dict(REAL), 10, 151673)
    layers = linears_to_pack(model)
    total = sum(value.numel() for value in model.parameters())
    packed = sum(model.get_submodule(name).weight.numel() for name in layers)
    # Two packed weights a byte and a byte for every 64; the rest in bf16.
    size = packed / 2 + packed / 64 + 2 * (total - packed)
    return {
        "parameters": total,
        "layers": layers,
        "gigabytes": size / 1e9,
        "names": [name for name, _ in model.named_parameters()],
        "buffers_on_meta": [name for name, value in model.named_buffers() if value.is_meta],
    }


def frames(count: int = 8) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 255, (count, 90, 160, 3), dtype=np.uint8)


def same_layer(one: Any, other: Any) -> bool:
    """Whether two packed weights are the same bit for bit, statistics included."""
    left, right = one.quant_state.as_dict(packed=True), other.quant_state.as_dict(packed=True)
    return (
        torch.equal(one.data, other.data)
        and left.keys() == right.keys()
        and all(torch.equal(left[key], right[key]) for key in left)
    )


def largest_difference(one: Any, other: Any) -> float:
    pairs = ((one.progress, other.progress), (one.success, other.success))
    return max(float((left - right).abs().max()) for left, right in pairs)


def packing(folder: Path) -> dict[str, Any]:
    """Packed and loaded, against quantised in place, against bitsandbytes' own way."""
    quantize.CHUNK = 4096  # so that tiny matrices, too, are quantised a few rows at a time
    target = folder.with_name(f"{folder.name}-packed")
    layers = pack_folder(folder, target, min_numel=LEAST)
    inputs = RbmInputs(folder)
    plain, none = load_rbm(folder, inputs, device="cpu", quantize=False)
    placed, in_place = load_rbm(folder, inputs, device="cpu", quantize=True, min_numel=LEAST)
    loaded, from_file = load_rbm(target, RbmInputs(target), device="cpu", quantize=True)
    own = {
        name: Params4bit(plain.get_submodule(name).weight.data.clone(), requires_grad=False, quant_type="nf4")
        for name in layers
    }
    asked = inputs.progress(frames(), "open the drawer")
    first, second = placed(asked), loaded(asked)
    some = build_skeleton(folder, inputs)
    visual = linears_to_pack(some, LEAST, lambda name: ".visual." in name)
    chosen = load_checkpoint(some, weight_files(folder), pack=visual)
    with safe_open(target / "model.safetensors", framework="pt") as file:
        names, header = list(file.keys()), json.loads(file.metadata()["nf4_modules"])
    return {
        "layers": layers,
        "lists_agree": layers == in_place == from_file == header and none == [],
        "bits_agree": all(
            same_layer(placed.get_submodule(name).weight, loaded.get_submodule(name).weight)
            for name in layers
        ),
        "bits_are_bitsandbytes_own": all(
            same_layer(own[name]._quantize("cpu"), loaded.get_submodule(name).weight) for name in layers
        ),
        "largest_difference": largest_difference(first, second),
        "difference_to_bf16": largest_difference(plain(asked), second),
        "unchanged_by_use": all(same_layer(own[name], loaded.get_submodule(name).weight) for name in layers),
        "meta_left": [name for name, value in loaded.state_dict().items() if value.is_meta],
        "folded": sorted(name for name in names if name.endswith("inv_freq")),
        "included": chosen,
        "excluded_kept_as_they_were": all(
            type(some.get_submodule(name)) is torch.nn.Linear for name in set(layers) - set(chosen)
        ),
    }


def threads() -> dict[str, Any]:
    """The bits of a matrix of the real model's size, by the number of threads that torch may use."""
    torch.manual_seed(0)
    matrix = torch.randn(2560, 4096, dtype=torch.bfloat16)
    packed = {}
    for count in (1, 2, 4):
        torch.set_num_threads(count)
        data, state = quantize.quantize_weight(matrix, (2560, 4096), torch.bfloat16)
        packed[count] = (data, state.as_dict(packed=True))
    torch.set_num_threads(1)
    own = Params4bit(matrix.clone(), requires_grad=False, quant_type="nf4")._quantize("cpu")
    packed[0] = (own.data, own.quant_state.as_dict(packed=True))
    data, state = packed[1]
    return {
        "agree": {
            count: torch.equal(data, other)
            and all(torch.equal(state[key], value) for key, value in its.items())
            for count, (other, its) in packed.items()
        }
    }


def graph(folder: Path) -> dict[str, Any]:
    """What the forward pass promises."""
    inputs = RbmInputs(folder)
    model, _ = load_rbm(folder, inputs, device="cpu", quantize=False)
    asked = inputs.progress(frames(8), "open the drawer")
    with torch.inference_mode():
        states = model.model(**asked, output_hidden_states=True)
    whole, part = model(asked), model(inputs.progress(frames(8)[:5], "open the drawer"))
    other = model(inputs.progress(frames(8), "close the window"))
    words = inputs._tokenizer.decode(asked["input_ids"][0])
    with safe_open(folder / "model.safetensors", framework="pt") as file:
        stored = set(file.keys())
    return {
        "shapes": [list(whole.progress.shape), list(whole.success.shape)],
        "upstream_reads_the_same": torch.equal(states.hidden_states[-1], states.last_hidden_state),
        "later_frames_change_earlier_scores_by": max(
            float((whole.progress[:5] - part.progress).abs().max()),
            float((whole.success[:5] - part.success).abs().max()),
        ),
        "words_matter": largest_difference(whole, other) > 0,
        "same_bits_twice": largest_difference(whole, model(asked)) == 0.0,
        "grid": asked["image_grid_thw"].tolist(),
        "pictures": words.count("<|vision_start|>"),
        "tokens_follow_pictures": words.count("<|vision_end|><|prog_token|>"),
        "starts": words.startswith("<|im_start|>user\nThe task for the robot is 'open the drawer'."),
        "ends": words.endswith("<|prog_token|><|im_end|>\n"),
        "stored_is_what_the_graph_has": stored == set(build_skeleton(folder, inputs).state_dict()),
    }


def memory(folder: Path) -> dict[str, Any]:
    """What is made besides the model while a plain checkpoint is packed, and which attention may be used."""
    inputs = RbmInputs(folder)
    with StorageMeter() as meter:
        model, packed = load_rbm(folder, inputs, device="cpu", quantize=True, min_numel=LEAST)
        left = meter.now
    asked = inputs.progress(frames(), "open the drawer")
    return {
        "beside_result": meter.peak - left,
        "packed": len(packed),
        "plain_bytes": (folder / "model.safetensors").stat().st_size,
        "compute_dtypes": sorted({str(model.get_submodule(name).compute_dtype) for name in packed}),
        "table_is_on_the_host": isinstance(model.model.language_model.embed_tokens, HostEmbedding),
        "keeps_keys_and_values": model.model(**asked, use_cache=False).past_key_values is not None,
        "flash_attention": torch.backends.cuda.flash_sdp_enabled(),
        "memory_efficient_attention": torch.backends.cuda.mem_efficient_sdp_enabled(),
    }


def pictures(folder: Path) -> dict[str, Any]:
    """Pictures as tensors against Pillow's, and where they are prepared; the meta device stands for a GPU."""
    inputs = RbmInputs(folder)
    processor = inputs._processor.image_processor
    same = {}
    for side in (96, 90):
        shown = np.random.default_rng(0).integers(0, 255, (8, side, 160, 3), dtype=np.uint8)
        sized = [Image.fromarray(frame).resize((160, 96)) for frame in shown]
        expected = processor(images=sized, do_resize=False, return_tensors="pt")["pixel_values"]
        same[side] = torch.equal(inputs.progress(shown, "open the drawer")["pixel_values"], expected)
    shown = frames()
    with CopyMeter("meta") as meter:
        there = RbmInputs(folder, "meta").progress(shown, "open the drawer")
    return {
        "same": same,
        "devices": sorted({value.device.type for value in there.values()}),
        "copied": sorted(meter.copied),
        "pictures_bytes": 8 * 96 * 160 * 3,
        "words_bytes": sorted(8 * there[name].numel() for name in WORDS),
    }


def recorded(folder: Path) -> dict[str, Any]:
    """Scores of the graph with two decoder layers more, plain and replayed; a trace stands for a CUDA graph."""
    config = json.loads((folder / "config.json").read_text())
    config["text_config"] |= {"num_hidden_layers": 4, "layer_types": None}
    inputs = RbmInputs(folder)
    torch.manual_seed(0)
    plain = RBM(Qwen3VLConfig.from_dict(config), 10, inputs.token(PROGRESS_TOKEN)).to(torch.bfloat16).eval()
    other = copy.deepcopy(plain)
    runs = record_parts(other.model, traced)
    asked = [
        inputs.progress(np.random.default_rng(seed).integers(0, 255, shape, dtype=np.uint8), words)
        for seed, (shape, words) in enumerate(
            [
                ((8, 96, 160, 3), "open the drawer"),
                ((8, 96, 160, 3), "shut the window"),
                ((8, 64, 160, 3), "open the drawer"),
                ((5, 96, 160, 3), "open the drawer"),
            ]
        )
    ]
    wanted = [plain(each) for each in asked]
    apart = [
        [largest_difference(other(each), score) for _ in range(2)]
        for each, score in zip(asked[:3], wanted[:3], strict=True)
    ]
    for run in runs:
        run.call.records = False
    return {
        "apart": apart,
        "words_matter": largest_difference(*wanted[:2]) > 0,
        "recordings": [run.call.recorded for run in runs],
        "refused": [run.call.refused for run in runs],
        "apart_when_nothing_is_recorded": largest_difference(other(asked[3]), wanted[3]),
        "recordings_then": [run.call.recorded for run in runs],
        "weights_are_kept": len(list(other.parameters())) == len(list(plain.parameters())),
    }


PROOFS = {
    "real": real,
    "recorded": recorded,
    "packing": packing,
    "threads": threads,
    "graph": graph,
    "memory": memory,
    "pictures": pictures,
}

if __name__ == "__main__":
    pin_kernels()
    proof = PROOFS[sys.argv[1]]
    sys.stdout.write(json.dumps(proof(*map(Path, sys.argv[2:]))))
