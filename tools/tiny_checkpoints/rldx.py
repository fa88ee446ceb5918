"""The two parts of RLDX-1 by upstream's own code, with random weights: Qwen3-VL, and the head that denoises actions.

Upstream's package `rldx` must be importable, or lie in a folder that is given; of what it pins, the model's own code
needs transformers and diffusers only.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn
from transformers import Qwen3VLConfig
from transformers.feature_extraction_utils import BatchFeature

from openral_rskill.nf4.module_surgery import cast_parameters
from openral_rskill.safetensors_writer import safetensors_writer
from tiny_checkpoints import LABEL, on_a_gpu

START, IMAGE = 151_652, 50
"""Word that begins a picture, by which upstream knows pictures, and the one that stands for four patches."""
UNREAD = "backbone.qwen_model.lm_head."
"""The head that writes words is never asked; not written here, it is not read either."""


@dataclass(frozen=True)
class Size:
    """Widths, depths, and the pictures of one observation."""

    qwen: dict[str, Any]
    """Qwen3-VL, as its configuration says it."""
    layers: int
    """Decoder layers that are kept."""
    cognition: int
    """Tokens that the head reads."""
    head: dict[str, Any]
    """Fields of upstream's configuration of the head."""
    views: int
    frames: int
    side: int
    """[patches] of a picture's edge."""
    std: float
    """Of the random weights."""


def _qwen(
    hidden: int, inner: int, layers: int, heads: int, kv: int, vision: dict[str, Any]
) -> dict[str, Any]:
    width = hidden // heads
    sections = [width // 2 - 2 * (width * 5 // 32), width * 5 // 32, width * 5 // 32]
    return {
        "text_config": {
            "hidden_size": hidden,
            "intermediate_size": inner,
            "num_hidden_layers": layers,
            "num_attention_heads": heads,
            "num_key_value_heads": kv,
            "head_dim": width,
            "vocab_size": START + 1,
            "rope_scaling": {"mrope_interleaved": True, "mrope_section": sections, "rope_type": "default"},
        },
        "vision_config": {**vision, "out_hidden_size": hidden},
        "image_token_id": IMAGE,
        "vision_start_token_id": START,
        "tie_word_embeddings": False,
    }


SIZES = {
    "rldx": Size(
        _qwen(
            *(64, 128, 7, 4, 2),
            {
                "hidden_size": 32,
                "intermediate_size": 64,
                "depth": 2,
                "num_heads": 2,
                "deepstack_visual_indexes": [0],
                "num_position_embeddings": 16,
            },
        ),
        *(7, 4),
        {
            "input_embedding_dim": 64,
            "backbone_embedding_dim": 64,
            "hidden_size": 64,
            "max_action_dim": 8,
            "max_state_dim": 8,
            "max_num_embodiments": 3,
            "diffusion_model_cfg": {
                "attention_head_dim": 16,
                "depth_multi_stream": 2,
                "depth_single_stream": 2,
                "num_attention_heads": 4,
                "output_dim": 64,
                "sa_dim": 64,
                "vl_dim": 64,
            },
        },
        *(1, 2, 4),
        0.2,
    ),
    "rldx_7b": Size(
        _qwen(
            *(4096, 12_288, 36, 32, 8),
            {
                "hidden_size": 1152,
                "intermediate_size": 4304,
                "depth": 27,
                "num_heads": 16,
                "deepstack_visual_indexes": [8, 16, 24],
                "num_position_embeddings": 2304,
            },
        ),
        *(18, 64),
        {},
        *(2, 4, 16),
        0.02,
    ),
}
"""By the name that the command line has for it. The second has the dimensions of RLDX-1, as upstream's defaults and
Qwen3-VL-8B have them, and LIBERO's pictures; it is to measure with."""


class RldxParts(nn.Module):
    """Both parts under the names that they have in a checkpoint, and the way from one to the other."""

    def __init__(self, name: str, folder: Path, *, upstream: str = "", **fields: Any) -> None:
        """Build them with the weights that upstream begins with.

        Args:
            name: a key of `SIZES`.
            folder: where Qwen3-VL's configuration is written to.
            upstream: folder of upstream's package `rldx`; empty: it is importable.
            fields: of upstream's configuration, instead of those of the size.
        """
        super().__init__()
        make_config, make_head, make_backbone = import_upstream(upstream)
        self.size = SIZES[name]
        Qwen3VLConfig(**self.size.qwen).save_pretrained(folder)
        self.backbone = make_backbone(
            str(folder),
            select_layer=self.size.layers,
            use_cog_tokens=True,
            n_cog_tokens=self.size.cognition,
            skip_pretrained_weights=True,
        )
        config = make_config(n_cog_tokens=self.size.cognition, **{**self.size.head, **fields})
        self.state = config.max_state_dim
        self.robots = getattr(config, "max_num_embodiments", 1)
        self.action_model = make_head(config)
        self.eval()

    def randomise(self, seed: int) -> None:
        """Draw every weight."""
        torch.manual_seed(seed)
        for parameter in self.parameters():
            torch.nn.init.normal_(parameter, std=self.size.std)

    def pixels(self, batch: int) -> Tensor:
        """Return random pictures of B observations as Qwen3-VL's processor hands them on."""
        return torch.randn(batch * self.size.views * self.size.frames * self.size.side**2, 3 * 2 * 16 * 16)

    def infer(self, sentences: Sequence[Sequence[int]], pixels: Tensor, *, hidden: bool = False) -> Tensor:
        """Infer action chunks (B, H, A) from B sentences, padded on the left as upstream's processor does it.

        Args:
            sentences: numbers of words.
            pixels: see `pixels`.
            hidden: whether the head must not look at the first token that it is given.
        """
        device, size = self.backbone.cog_emb.device, self.size
        pictures = size.views * size.frames
        spare = [max(map(len, sentences)) - len(sentence) for sentence in sentences]
        shown = [START, *[IMAGE] * (size.side**2 // 4)] * pictures
        ids = torch.tensor([[*[0] * n, *shown, *row] for n, row in zip(spare, sentences, strict=True)])
        batch = len(ids)
        seen = {
            "input_ids": ids,
            "attention_mask": torch.tensor([[0] * n + [1] * (ids.shape[1] - n) for n in spare]),
            "pixel_values": pixels,
            "image_grid_thw": torch.tensor([[1, size.side, size.side]] * pictures * batch),
            "image_wise_encoding": torch.zeros(batch, dtype=torch.bool),
            "num_views": torch.full((batch,), size.views),
        }
        state, robot = torch.randn(batch, 1, self.state), torch.randint(0, self.robots, (batch,))
        given = SimpleNamespace(state=state.to(device), embodiment_id=robot.to(device), get=lambda *_: None)
        with torch.inference_mode(), torch.autocast(device.type, torch.bfloat16):
            read = self.backbone(BatchFeature({name: value.to(device) for name, value in seen.items()}))
            if hidden:
                read["backbone_attention_mask"][:, 0] = 0
            made: Tensor = self.action_model.get_action(read, given)["action_pred"]
        return made.float()


def size_in(folder: Path) -> str:
    """Return which of `SIZES` was written into a folder."""
    config = json.loads((folder / "config.json").read_text())
    widths = {size.qwen["text_config"]["hidden_size"]: name for name, size in SIZES.items()}
    return widths[config["text_config"]["hidden_size"]]


def import_upstream(folder: str = "") -> tuple[Any, Any, Any]:
    """Import configuration, head and backbone without what their packages import for training.

    Args:
        folder: where the package `rldx` lies; empty: where it is installed.
    """
    os.environ.setdefault("RLDX_ATTN_IMPL", "sdpa")
    if "rldx" in sys.modules:
        folder = str(Path(sys.modules["rldx"].__path__[0]).parent)
    elif not folder:
        found = importlib.util.find_spec("rldx")
        if found is None or found.origin is None:
            raise ImportError("there is no package rldx; pip install rlinf-rldx, or name its folder")
        folder = str(Path(found.origin).parents[1])
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


def make(family: str, folder: Path, *, seed: int) -> None:
    """Write bf16 weights of both parts and Qwen3-VL's configuration, to fill `RldxParts` with.

    It is no checkpoint that upstream's server loads: that one has tokenizer, statistics and modalities besides.

    Args:
        family: a key of `SIZES`.
        folder: where to; made if need be.
        seed: of the weights.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with on_a_gpu():
        parts = RldxParts(family, folder)
        cast_parameters(parts, torch.bfloat16)
        parts.randomise(seed)
    weights = {name: value for name, value in parts.state_dict().items() if not name.startswith(UNREAD)}
    with safetensors_writer(folder / "model.safetensors", list(weights), {"note": LABEL}) as writer:
        for name, value in weights.items():
            writer.add(name, value)
