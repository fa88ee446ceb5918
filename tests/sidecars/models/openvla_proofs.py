"""Which modules of an OpenVLA-OFT checkpoint are packed, and what loading takes; run in its sidecar, answers as JSON.

openvla_proofs.py FOLDER
"""

# ruff: noqa: E402  the shim comes before timm, which imports torchvision
from __future__ import annotations

import json
import sys
from pathlib import Path

from openral_sidecar.environment.torchvision_shim import ensure_torchvision

ensure_torchvision()
import torch
from bitsandbytes.nn import Linear4bit
from storage_meter import StorageMeter
from traced import traced

from openral_policy_nodes.families.openvla_oft.checkpoint import read_checkpoint
from openral_policy_nodes.families.openvla_oft.model import load_network
from openral_policy_nodes.families.openvla_oft.network import OpenVLAOFT
from openral_sidecar.cuda_graph_call import CudaGraphCall

LEAST, ACTIONS = 1024, 14


def recorded_apart(network: OpenVLAOFT) -> list[float]:
    """Return how far replays of a recording are from plain scores, for two shapes, and how much these vary."""
    call = CudaGraphCall(lambda *given: network(*given, ACTIONS, True), traced)
    apart, spread = 0.0, 0.0
    size = network.vision_backbone.featurizer.patch_embed.img_size[0]
    with torch.inference_mode():
        for rows in (1, 1, 2, 2):
            words = network.words(torch.randint(3, 40, (rows, 9)))
            pixels = torch.randn(rows, 3 * network.vision_backbone.towers, size, size).to(words.dtype)
            proprio = torch.randn(rows, 1, words.shape[-1]).to(words.dtype)
            plain = network(words, pixels, proprio, ACTIONS, True)
            apart = max(apart, (call(words, pixels, proprio) - plain).abs().max().item())
            spread = max(spread, plain.float().std().item())
    assert (call.recorded, call.refused) == (2, ""), call.refused
    return [apart, spread]


def main(folder: Path) -> None:
    checkpoint = read_checkpoint(folder)
    with StorageMeter() as meter:
        network, packed = load_network(checkpoint, "cpu", "int4", LEAST)
        left = meter.now
    plain, none = load_network(checkpoint, "cpu", "bf16", LEAST)
    own = dict(plain.named_parameters())
    rest = {
        name: value
        for name, value in network.named_parameters()
        if name.removesuffix(".weight") not in packed
    }
    answer = {
        "packed": packed,
        "are_packed": [name for name, part in network.named_modules() if isinstance(part, Linear4bit)],
        "packed_in_bf16": none,
        "compute_dtypes": sorted({str(network.get_submodule(name).compute_dtype) for name in packed}),
        "rest_dtypes": sorted({str(value.dtype) for value in rest.values()}),
        "rest_is_as_in_the_file": all(torch.equal(value, own[name]) for name, value in rest.items()),
        "frequencies": str(network.language_model.model.rotary_emb.inv_freq.dtype),
        "recorded_apart": recorded_apart(plain),
        "beside_result": meter.peak - left,
        "file_bytes": sum(path.stat().st_size for path in checkpoint.weights),
    }
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
