"""Runs in LeRobot's interpreter: actions of upstream's RLDX-1, and of a recording of its parts.

rldx_recordings_proof.py UPSTREAM FOLDER; prints JSON. UPSTREAM is where its package `rldx` lies, FOLDER is written to.
Random weights, proves plumbing only. On a CPU a trace of the tensor operations stands in for a CUDA graph: like it, it
replays what was recorded and knows nothing of Python's branches, or of the values that were there then.
"""

# ruff: noqa: E402  the shim comes before anything that imports torchvision
from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

os.environ["RLDX_ATTN_IMPL"] = "sdpa"
from openral_sidecar.environment.torchvision_shim import ensure_torchvision

ensure_torchvision()
import torch
from traced import traced
from transformers import Qwen3VLConfig
from transformers.feature_extraction_utils import BatchFeature

from openral_policy_nodes.families.rldx.padding import let_sentences_differ
from openral_policy_nodes.families.rldx.recordings import record_parts

WIDTH, LAYERS, COG, IMAGE, START = 64, 7, 4, 50, 151652
QWEN = {
    "text_config": {
        "hidden_size": WIDTH,
        "intermediate_size": 128,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "vocab_size": START + 1,
        "rope_scaling": {"mrope_interleaved": True, "mrope_section": [4, 2, 2], "rope_type": "default"},
    },
    "vision_config": {
        "hidden_size": 32,
        "intermediate_size": 64,
        "depth": 2,
        "num_heads": 2,
        "out_hidden_size": WIDTH,
        "deepstack_visual_indexes": [0],
        "num_position_embeddings": 16,
    },
    "image_token_id": IMAGE,
    "vision_start_token_id": START,
    "tie_word_embeddings": False,
}
HEAD = {
    "attention_head_dim": 16,
    "depth_multi_stream": 2,
    "depth_single_stream": 2,
    "num_attention_heads": 4,
    "output_dim": WIDTH,
    "sa_dim": WIDTH,
    "vl_dim": WIDTH,
}


def import_upstream(folder: str) -> tuple[Any, Any, Any]:
    """Import the model's modules without what their packages import for training."""
    for name in ("rldx", "rldx.model", "rldx.model.core", "rldx.configs", "rldx.configs.model"):
        package = ModuleType(name)
        package.__path__ = [str(Path(folder, *name.split(".")))]
        package.register_model_config = lambda *given: None  # type: ignore[attr-defined]
        sys.modules[name] = package
    sys.modules.setdefault("tree", ModuleType("tree"))  # maps trees, in the class around the two parts
    from rldx.configs.model.rldx import RLDXConfig
    from rldx.model.core.rldx import RLDXActionModel
    from rldx.model.modules.backbone.adapter import VTCQwen3VLBackbone

    return RLDXConfig, RLDXActionModel, VTCQwen3VLBackbone


class Model:
    """The two parts of upstream's RLDX, small, and its way from one to the other."""

    def __init__(self, upstream: tuple[Any, Any, Any], folder: Path, mode: str) -> None:
        make_config, make_head, make_backbone = upstream
        torch.manual_seed(0)
        Qwen3VLConfig(**QWEN).save_pretrained(folder)
        self.backbone = make_backbone(
            str(folder),
            select_layer=LAYERS,
            use_cog_tokens=True,
            n_cog_tokens=COG,
            skip_pretrained_weights=True,
        ).eval()
        config = make_config(
            input_embedding_dim=WIDTH,
            backbone_embedding_dim=WIDTH,
            hidden_size=WIDTH,
            max_action_dim=8,
            max_state_dim=8,
            max_num_embodiments=3,
            diffusion_model_cfg=dict(HEAD),
            rtc_inference_mode=mode,
            rtc_inference_delay=2 if mode != "none" else 0,
        )
        self.action_model = make_head(config).eval()
        for parameter in (*self.backbone.parameters(), *self.action_model.parameters()):
            torch.nn.init.normal_(parameter, std=0.2)

    def actions(self, batch: int, words: int, seed: int, *, hidden: bool = False) -> torch.Tensor:
        """Infer from B observations of two pictures, where the older one is dropped, and a sentence."""
        torch.manual_seed(seed)
        sentences = torch.randint(1, 40, (batch, words)).tolist()
        pixels = torch.randn(batch * 2 * 16, 3 * 2 * 16 * 16)
        return self.infer(sentences, pixels, hidden=hidden)

    def infer(
        self, sentences: list[list[int]], pixels: torch.Tensor, *, hidden: bool = False
    ) -> torch.Tensor:
        """Infer from sentences, padded on the left as upstream's processor does, and their pictures."""
        batch, longest = len(sentences), max(map(len, sentences))
        picture = [START, *[IMAGE] * 4]
        spare = [longest - len(sentence) for sentence in sentences]
        ids = torch.tensor(
            [[*[0] * n, *picture, *picture, *row] for n, row in zip(spare, sentences, strict=True)]
        )
        present = torch.tensor([[0] * n + [1] * (ids.shape[1] - n) for n in spare])
        seen = BatchFeature(
            {
                "input_ids": ids,
                "attention_mask": present,
                "pixel_values": pixels,
                "image_grid_thw": torch.tensor([[1, 4, 4]] * 2 * batch),
                "image_wise_encoding": torch.zeros(batch, dtype=torch.bool),
                "num_views": torch.ones(batch, dtype=torch.long),
            }
        )
        state = torch.randn(batch, 1, 8)
        robot = SimpleNamespace(state=state, embodiment_id=torch.randint(0, 3, (batch,)), get=lambda *_: None)
        with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16):
            read = self.backbone(seen)
            if hidden:
                read["backbone_attention_mask"][:, 0] = 0
            made: torch.Tensor = self.action_model.get_action(read, robot)["action_pred"]
        return made.float()


CALLS = [(1, 5, 0), (1, 5, 1), (2, 5, 2), (1, 6, 3), (1, 5, 4)]
"""Batch, words of the sentence and seed: other values, another batch, another length, and the first shape again."""


def differing(plain: Model, recorded: Model) -> dict[str, Any]:
    """Infer from sentences of three lengths: together, where upstream alone fails; one by one; and recorded."""
    torch.manual_seed(9)
    sentences = [torch.randint(1, 40, (words,)).tolist() for words in (3, 8, 5)]
    pixels = torch.randn(3, 2 * 16, 3 * 2 * 16 * 16)

    def together(model: Model) -> torch.Tensor:
        torch.manual_seed(1)
        return model.infer(sentences, pixels.flatten(0, 1))

    def read(model: Model, rows: slice) -> torch.Tensor:
        """What the backbone makes of some of the sentences."""
        seen: list[torch.Tensor] = []
        hook = model.backbone.register_forward_hook(
            lambda module, args, answer: seen.append(answer["backbone_features"].float())
        )
        model.infer(sentences[rows], pixels[rows].flatten(0, 1))
        hook.remove()
        return seen[0]

    try:
        together(plain)
        upstream = "no error"
    except IndexError as error:
        upstream = type(error).__name__
    for model in (plain, recorded):
        let_sentences_differ(model)
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
    upstream = import_upstream(upstream_folder)
    plain, recorded = (Model(upstream, Path(folder), "none") for _ in range(2))
    run, denoising = record_parts(recorded, traced)
    assert run is not None
    wanted = [plain.actions(*call) for call in CALLS]
    wanted.append(plain.actions(1, 5, 5, hidden=True))
    found = [recorded.actions(*call) for call in CALLS]
    found.append(recorded.actions(1, 5, 5, hidden=True))
    continued = Model(upstream, Path(folder), "guided")
    _, left = record_parts(continued, traced)
    continued.actions(*CALLS[0])
    answer = {
        "apart": [(mine - theirs).abs().max().item() for mine, theirs in zip(found, wanted, strict=True)],
        "different": not torch.equal(wanted[0], wanted[1]),
        "finite": all(bool(actions.isfinite().all()) for actions in wanted),
        "layers_left": len(recorded.backbone.qwen_model.model.language_model.layers),
        "recordings": [run.call.recorded, denoising.call.recorded],
        "refused": [run.call.refused, denoising.call.refused],
        "recordings_of_continued_chunks": left.call.recorded,
    }
    answer["differing"] = differing(plain, recorded)
    sys.stdout.write("\n" + json.dumps(answer))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
