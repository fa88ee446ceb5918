"""Peaks computed from shapes: of the released models, without their weights, and of a file on this machine."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from safetensors.torch import save_file
from typer.testing import CliRunner

from openral_cli.app import app
from openral_core.manifest import RSkillManifest
from openral_rskill.peak_memory import BLOCKS, PeakMemory, peak_of, peak_of_tensors
from openral_rskill.registry import load_package, resolve
from openral_rskill.safetensors_check import TensorShape
from openral_rskill.vram import CONTEXT_GB, MARGIN_GB, budget

Sides = tuple[int, int]


def qwen(
    place: str, layers: int, width: int, inner: int, words: int, vision: tuple[int, int, int]
) -> dict[str, Sides]:
    """The matrices of a Qwen3-VL whose attention has 4096 queries and 1024 keys."""
    eye, eye_inner, depth = vision
    layer = {
        **{"self_attn.q_proj": (4096, width), "self_attn.o_proj": (width, 4096)},
        **{"self_attn.k_proj": (1024, width), "self_attn.v_proj": (1024, width)},
        **{"mlp.gate_proj": (inner, width), "mlp.up_proj": (inner, width), "mlp.down_proj": (width, inner)},
    }
    block = {
        **{"attn.qkv": (3 * eye, eye), "attn.proj": (eye, eye)},
        **{"mlp.linear_fc1": (eye_inner, eye), "mlp.linear_fc2": (eye, eye_inner)},
    }
    merger = {"linear_fc1": (4 * eye, 4 * eye), "linear_fc2": (width, 4 * eye)}
    return {
        f"{place}.language_model.embed_tokens.weight": (words, width),
        **{
            f"{place}.language_model.layers.{i}.{k}.weight": v
            for i in range(layers)
            for k, v in layer.items()
        },
        **{f"{place}.visual.blocks.{i}.{k}.weight": v for i in range(depth) for k, v in block.items()},
        **{f"{place}.visual.merger.{i}.{k}.weight": v for i in range(4) for k, v in merger.items()},
    }


def robometer() -> dict[str, Sides]:
    return qwen("model", 36, 2560, 9728, 151_674, (1024, 4096, 24))


def rldx() -> dict[str, Sides]:
    """18 of Qwen3-VL-8B's layers, and 1.604 billion weights of the action head."""
    return {
        **qwen("backbone.qwen_model.model", 18, 4096, 12_288, 151_936, (1152, 4304, 27)),
        "backbone.qwen_model.lm_head.weight": (151_936, 4096),
        "action_model.all": (1604, 1_000_000),
    }


def openvla() -> dict[str, Sides]:
    """LLaMA-2-7B, and 0.803 billion weights of towers and projector."""
    square, wide, narrow = (4096, 4096), (11_008, 4096), (4096, 11_008)
    layer = {
        **dict.fromkeys((f"self_attn.{name}_proj" for name in "qkvo"), square),
        **{"mlp.gate_proj": wide, "mlp.up_proj": wide, "mlp.down_proj": narrow},
    }
    return {
        "vision_backbone.all": (803, 1_000_000),
        "language_model.lm_head.weight": (32_064, 4096),
        "language_model.model.embed_tokens.weight": (32_064, 4096),
        **{
            f"language_model.model.layers.{i}.{name}.weight": sides
            for i in range(32)
            for name, sides in layer.items()
        },
    }


def smolvla() -> dict[str, Sides]:
    """Sixteen layers of SmolVLM2-500M, and an expert of three quarters of their width beside them."""
    place, text, eye = "model.vlm_with_expert", 960, 768

    def layer(width: int, inner: int, seen: int) -> dict[str, Sides]:
        return {
            **{"self_attn.q_proj": (960, width), "self_attn.o_proj": (width, 960)},
            **{"self_attn.k_proj": (320, seen), "self_attn.v_proj": (320, seen)},
            **{
                "mlp.gate_proj": (inner, width),
                "mlp.up_proj": (inner, width),
                "mlp.down_proj": (width, inner),
            },
        }

    block = {**dict.fromkeys("qkvo", (eye, eye)), "fc1": (3072, eye), "fc2": (eye, 3072)}
    return {
        f"{place}.vlm.lm_head.weight": (49_280, text),
        f"{place}.vlm.model.text_model.embed_tokens.weight": (49_280, text),
        f"{place}.vlm.model.connector.modality_projection.proj.weight": (text, 16 * eye),
        **{
            f"{place}.vlm.model.text_model.layers.{i}.{k}.weight": v
            for i in range(16)
            for k, v in layer(text, 2560, text).items()
        },
        **{
            f"{place}.vlm.model.vision_model.encoder.layers.{i}.{k}.weight": v
            for i in range(12)
            for k, v in block.items()
        },
        **{
            f"{place}.lm_expert.layers.{i}.{k}.weight": v
            for i in range(16)
            for k, v in layer(720, 2048, 320 if i % 2 else 720).items()
        },
    }


def peak(skill: str, sides: dict[str, Sides], dtype: str) -> tuple[PeakMemory, RSkillManifest]:
    """The peak of a shipped skill in a number format, from bf16 files."""
    manifest = resolve(skill).manifest
    quantization = manifest.quantization.model_copy(update={"dtype": dtype})
    manifest = manifest.model_copy(update={"quantization": quantization})
    shapes = {name: TensorShape(shape, 2 * math.prod(shape)) for name, shape in sides.items()}
    return peak_of_tensors(manifest, shapes), manifest


MODELS = [
    # parameters [10^9], and what torch reserved of an H200 at the largest input [GB] (docs/gpu.md)
    ("robometer-4b-nf4", "int4", robometer, 4.447, 4.65),
    ("rldx1-ft-libero-nf4", "int4", rldx, 6.898, 6.53),
    ("openvla-oft-libero", "int4", openvla, 7.541, 5.78),
    ("smolvla-metaworld", "bf16", smolvla, 0.455, 0.91),
]


@pytest.mark.parametrize(
    ("skill", "dtype", "sides", "parameters", "measured"), MODELS, ids=[row[0] for row in MODELS]
)
def test_each_model_fits_a_card_of_8_gb_by_what_was_computed_and_measured(
    skill: str, dtype: str, sides: Callable[[], dict[str, Sides]], parameters: float, measured: float
) -> None:
    assert sum(map(math.prod, sides().values())) / 1e9 == pytest.approx(parameters, rel=0.02)
    found, manifest = peak(skill, sides(), dtype)
    assert 0.96 * measured < found.gb < 1.17 * measured
    assert max(found.gb, measured) <= manifest.min_vram_gb[dtype] < found.gb + 0.3
    assert manifest.min_vram_gb[dtype] + CONTEXT_GB + MARGIN_GB <= 8.0


@pytest.mark.parametrize("row", MODELS[:3], ids=[row[0] for row in MODELS[:3]])
def test_in_16_bits_they_take_more_as_their_manifests_say(row: tuple[Any, ...]) -> None:
    packed, _ = peak(row[0], row[2](), "int4")
    plain, manifest = peak(row[0], row[2](), "bf16")
    assert packed.gb < plain.gb <= manifest.min_vram_gb["bf16"]


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    """A skill of the family openvla with one layer that is packed, and a head that is not."""
    manifest = yaml.safe_load((resolve("openvla-oft-libero").folder / "rskill.yaml").read_text())
    manifest |= {
        "license": "mit",
        "weights_uri": "local://model.safetensors",
        "quantization": {"dtype": "int4", "extra": {"min_params_to_quantize": 4096}},
        "min_vram_gb": {"int4": 0.1},
    }
    (tmp_path / "rskill.yaml").write_text(yaml.safe_dump(manifest))
    tensors = {
        "language_model.model.layers.0.mlp.up_proj.weight": torch.zeros(4096, 1024, dtype=torch.bfloat16),
        "language_model.lm_head.weight": torch.zeros(1024, 1024, dtype=torch.bfloat16),
        "language_model.model.embed_tokens.weight": torch.zeros(4096, 1024, dtype=torch.bfloat16),
    }
    save_file(tensors, tmp_path / "model.safetensors")
    return tmp_path


def test_check_compares_what_is_stated_with_what_is_computed(skill: Path) -> None:
    found = peak_of(load_package(skill))
    assert found is not None
    packed = 4096 * 1024
    assert found.weights_gb == pytest.approx(BLOCKS * (packed * 0.5159 + 2 * 1024 * 1024) / 1e9, rel=1e-3)
    told = CliRunner().invoke(app, ["rskill", "check", str(skill), "--device", "cpu"])
    assert "stated memory" in told.stdout
    fix = f"write min_vram_gb: {{int4: {math.ceil(10 * found.gb) / 10:.1f}}}"
    assert fix in " ".join(told.stdout.split())
    text = (skill / "rskill.yaml").read_text().replace("int4: 0.1", "int4: 0.5")
    (skill / "rskill.yaml").write_text(text)
    told = CliRunner().invoke(app, ["rskill", "check", str(skill), "--device", "cpu"])
    assert "write min_vram_gb" not in told.stdout


def test_the_gate_counts_the_computed_peak_where_none_is_stated(skill: Path) -> None:
    manifest = yaml.safe_load((skill / "rskill.yaml").read_text())
    del manifest["min_vram_gb"]
    (skill / "rskill.yaml").write_text(yaml.safe_dump(manifest))
    package = load_package(skill)
    found = peak_of(package)
    assert found is not None
    needed = budget([package], "cuda", lambda index: 8.0)
    assert needed.needed_gb == pytest.approx(found.gb + CONTEXT_GB + 0.5)
    assert "computed from its files" in needed.needed
