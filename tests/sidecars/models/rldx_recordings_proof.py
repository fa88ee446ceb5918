"""Runs in LeRobot's interpreter: actions of upstream's RLDX-1, and of a recording of its parts.

rldx_recordings_proof.py UPSTREAM FOLDER; prints JSON. UPSTREAM is where its package `rldx` lies, FOLDER is written to.
Random weights, proves plumbing only. On a CPU a trace of the tensor operations stands in for a CUDA graph: like it, it
replays what was recorded and knows nothing of Python's branches, or of the values that were there then.
"""

# ruff: noqa: E402  the shim comes before anything that imports torchvision
from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from openral_sidecar.environment.torchvision_shim import ensure_torchvision

ensure_torchvision()
import torch
from tiny_checkpoints.rldx import RldxParts
from traced import traced

from openral_policy_nodes.families.rldx.cuda_graphs import record_parts
from openral_policy_nodes.families.rldx.mixed_length_batch import let_sentences_differ


def model(upstream: str, folder: Path, mode: str = "none") -> RldxParts:
    """Build upstream's parts, the same weights each time; `mode` says how chunks that are under way go on."""
    parts = RldxParts(
        *("rldx", folder),
        upstream=upstream,
        rtc_inference_mode=mode,
        rtc_inference_delay=2 if mode != "none" else 0,
    )
    parts.randomise(0)
    return parts


def actions(parts: RldxParts, batch: int, words: int, seed: int, *, hidden: bool = False) -> torch.Tensor:
    """Infer from B observations of two pictures, where the older one is dropped, and a sentence."""
    torch.manual_seed(seed)
    sentences = torch.randint(1, 40, (batch, words)).tolist()
    return parts.infer(sentences, parts.pixels(batch), hidden=hidden)


CALLS = [(1, 5, 0), (1, 5, 1), (2, 5, 2), (1, 6, 3), (1, 5, 4)]
"""Batch, words of the sentence and seed: other values, another batch, another length, and the first shape again."""


def differing(plain: RldxParts, recorded: RldxParts) -> dict[str, Any]:
    """Infer from sentences of three lengths: together, where upstream alone fails; one by one; and recorded."""
    torch.manual_seed(9)
    sentences = [torch.randint(1, 40, (words,)).tolist() for words in (3, 8, 5)]
    pixels = torch.randn(3, 2 * 16, 3 * 2 * 16 * 16)

    def together(parts: RldxParts) -> torch.Tensor:
        torch.manual_seed(1)
        return parts.infer(sentences, pixels.flatten(0, 1))

    def read(parts: RldxParts, rows: slice) -> torch.Tensor:
        """What the backbone makes of some of the sentences."""
        seen: list[torch.Tensor] = []
        hook = parts.backbone.register_forward_hook(
            lambda module, args, answer: seen.append(answer["backbone_features"].float())
        )
        parts.infer(sentences[rows], pixels[rows].flatten(0, 1))
        hook.remove()
        return seen[0]

    try:
        together(plain)
        upstream = "no error"
    except IndexError as error:
        upstream = type(error).__name__
    for parts in (plain, recorded):
        let_sentences_differ(parts)
    wanted = together(plain)
    found = [together(recorded) for _ in range(2)]
    all_three = read(plain, slice(0, 3))
    alone = torch.cat([read(plain, slice(row, row + 1)) for row in range(3)])
    return {
        "upstream": upstream,
        "recorded_apart": [(mine - wanted).abs().max().item() for mine in found],
        "alone_apart": ((all_three - alone).norm() / alone.norm()).item(),
        "others_apart": ((all_three - alone.roll(1, 0)).norm() / alone.norm()).item(),
    }


def main(upstream_folder: str, folder: str) -> None:
    torch.set_num_threads(1)
    plain, recorded = (model(upstream_folder, Path(folder)) for _ in range(2))
    run, denoising = record_parts(recorded, traced)
    assert run is not None
    wanted = [actions(plain, *call) for call in CALLS]
    wanted.append(actions(plain, 1, 5, 5, hidden=True))
    found = [actions(recorded, *call) for call in CALLS]
    found.append(actions(recorded, 1, 5, 5, hidden=True))
    continued = model(upstream_folder, Path(folder), "guided")
    _, left = record_parts(continued, traced)
    actions(continued, *CALLS[0])
    answer = {
        "apart": [(mine - theirs).abs().max().item() for mine, theirs in zip(found, wanted, strict=True)],
        "different": not torch.equal(wanted[0], wanted[1]),
        "finite": all(bool(chunk.isfinite().all()) for chunk in wanted),
        "layers_left": len(recorded.backbone.qwen_model.model.language_model.layers),
        "recordings": [run.call.recorded, denoising.call.recorded],
        "refused": [run.call.refused, denoising.call.refused],
        "recordings_of_continued_chunks": left.call.recorded,
    }
    answer["differing"] = differing(plain, recorded)
    sys.stdout.write("\n" + json.dumps(answer))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
