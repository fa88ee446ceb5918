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

from openral_policy_nodes.families.openvla_oft.checkpoint import read_checkpoint
from openral_policy_nodes.families.openvla_oft.model import load_network

LEAST = 1024


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
        "beside_result": meter.peak - left,
        "file_bytes": sum(path.stat().st_size for path in checkpoint.weights),
    }
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
