"""Computes the peak memory of a checkpoint on an accelerator from the shapes in its files, before it is loaded.

The peak is the weights as they lie there (packed, read into 16 bits, or kept on the host), the largest matrix that is
unpacked for a product, and what lives of the largest input that is accepted. What lives was counted, operation by
operation, in Robometer's graph at its real width (tests/sidecars/models/storage_meter.py). Beside what an H200 measured
(docs/gpu.md), the computed peaks are from 4 % too small to 16 % too large.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from openral_core.errors import OpenralError
from openral_core.manifest import RSkillManifest
from openral_rskill.license import check_license
from openral_rskill.nf4.packable_weights import BYTES, MIN_NUMEL, packable
from openral_rskill.package import RSkillPackage
from openral_rskill.safetensors_check import SUFFIX, TensorShape, tensor_shapes

VISION_BYTES, PIXEL_BYTES = 37, 6
"""[byte] alive for each patch: 37 times the width of the vision tower, whose attention turns queries and keys in
float32, and 6 for each of its numbers, which are there in float32 and in 16 bits. Counted: 46.0 kB at a width of 1024
and 1536 numbers, for 1,568 to 12,800 patches."""
TOKEN_BYTES, INNER_BYTES = 20, 6
"""[byte] alive for each token of the language model: 20 times its width, and 6 times that of its inner layer."""
SPARE = 1.25
"""Factor on the live memory for the rounding of the allocator."""
WORKSPACE_GB = 0.1
"""[GB] for cuBLAS and everything that is not counted here."""
BLOCKS = 1.03
"""Factor on the weights, for the blocks of 2 MiB that the allocator takes: 1.02 to 1.03 on an H200."""
RECORDING_GB = 0.05
"""[GB] of a recording's own inputs and outputs."""


@dataclass(frozen=True)
class Family:
    """How the weights of one family are stored in memory, and its largest input for one robot."""

    packed: tuple[str, ...]
    """Names of modules under which linear layers are packed in NF4 where the manifest says int4; "": all."""
    on_host: tuple[str, ...]
    """Tensors that stay in the host's memory."""
    unread: tuple[str, ...]
    """Tensors that are not read."""
    patches: int
    """Patches of all pictures of one call."""
    pixels: int
    """Numbers of a patch."""
    vision_width: int
    tokens: int
    """Tokens of the language model: pictures, words and actions."""
    width: int
    inner: int
    """Width of its inner layer."""
    recordings: int = 0
    """CUDA graphs of the largest call; what lives while they run lies beside what lived in the first, plain call."""
    plain_by_upstream: bool = False
    """Whether upstream's own code loads weights that are not packed, which leaves nothing out."""


FAMILIES = {
    # 8 frames of 640 x 640 px in patches of 16 px and 2 steps of time; four patches make a token.
    "robometer": Family(
        *(("",), ("model.language_model.embed_tokens.weight",), ()),
        *(12_800, 1536, 1024),
        *(3_400, 2560, 9728),
        recordings=5,
    ),
    # 2 cameras with 4 frames of 256 x 256 px each, 64 tokens of cognition.
    "rldx": Family(
        ("backbone.",),
        ("backbone.qwen_model.model.language_model.embed_tokens.weight",),
        ("backbone.qwen_model.lm_head.weight",),
        *(2_048, 1536, 1152),
        *(700, 4096, 12_288),
        recordings=6,
        plain_by_upstream=True,
    ),
    # 2 cameras of 224 x 224 px in patches of 14 px, 56 tokens of action.
    "openvla": Family(
        *(("language_model.model.",), ("language_model.model.embed_tokens.weight",), ()),
        *(512, 588, 2176),
        *(640, 4096, 11_008),
        recordings=1,
    ),
    # 3 cameras of 512 x 512 px in patches of 16 px, one after the other; sixteen patches make a token.
    "smolvla": Family(
        *((), (), ("model.vlm_with_expert.vlm.lm_head.weight",)),
        *(1_024, 768, 768),
        *(291, 960, 2560),
        recordings=1,
    ),
}
"""By the manifest's `model_family`. The widths are those of the released models."""


@dataclass(frozen=True)
class PeakMemory:
    """The parts of a peak [GB], without a CUDA context."""

    weights_gb: float
    activations_gb: float

    @property
    def gb(self) -> float:
        """[GB] total."""
        return self.weights_gb + self.activations_gb

    @property
    def stated_gb(self) -> float:
        """[GB] total as a manifest states it, rounded up to a tenth."""
        return math.ceil(10 * self.gb) / 10

    def __str__(self) -> str:
        """Return the total and its parts as text."""
        return f"{self.gb:.1f} GB ({self.weights_gb:.1f} weights + {self.activations_gb:.1f} for the largest input)"


def peak_of(package: RSkillPackage, robots: int = 1) -> PeakMemory | None:
    """Return a skill's peak, or None if its family is not in `FAMILIES` or its weights are not on this machine.

    Args:
        package: the skill.
        robots: whose inputs are in one batch.
    """
    if package.manifest.model_family not in FAMILIES:
        return None
    try:
        check_license(
            package.manifest, folder=package.folder, accept_noncommercial=package.accept_noncommercial
        )
        files = sorted(package.checkpoint().rglob(f"*{SUFFIX}"))
        shapes = {name: shape for path in files for name, shape in tensor_shapes(path).items()}
    except OpenralError:
        return None  # the gates of licence and weights say what is wrong
    return peak_of_tensors(package.manifest, shapes, robots) if shapes else None


def robot_gb(manifest: RSkillManifest) -> float | None:
    """Return the live memory [GB] that each further robot in a batch adds; None: it is unknown."""
    family = FAMILIES.get(str(manifest.model_family))
    if family is None:
        return None
    alive = max(
        family.patches * (VISION_BYTES * family.vision_width + PIXEL_BYTES * family.pixels),
        family.tokens * (TOKEN_BYTES * family.width + INNER_BYTES * family.inner),
    )
    width = 2 if manifest.quantization.dtype == "fp32" else 1
    return width * SPARE * alive * (2 if family.recordings else 1) / 1e9


def peak_of_tensors(
    manifest: RSkillManifest, shapes: Mapping[str, TensorShape], robots: int = 1
) -> PeakMemory:
    """Return the peak of a checkpoint with these tensors.

    Args:
        manifest: of a family in `FAMILIES`; its number format counts.
        shapes: of every tensor in the files, by name.
        robots: whose inputs are in one batch.
    """
    family, dtype = FAMILIES[str(manifest.model_family)], manifest.quantization.dtype
    extra = manifest.quantization.extra.get("min_params_to_quantize", MIN_NUMEL)
    least = extra if isinstance(extra, int) else MIN_NUMEL
    left_out = () if dtype != "int4" and family.plain_by_upstream else (*family.on_host, *family.unread)
    there = {name: shape for name, shape in shapes.items() if name not in left_out}
    is_packed = any(".quant_state." in name for name in shapes)
    largest = 0
    weights = 0.0
    for name, tensor in there.items():
        count = math.prod(tensor.shape)
        if dtype == "int4" and is_packed:
            weights += tensor.size
            largest = max(largest, 2 * count if f"{name}.absmax" in shapes else 0)
        elif dtype == "int4" and _packs(name, tensor.shape, family.packed, least):
            weights += count * BYTES
            largest = max(largest, count)
        else:
            weights += min(tensor.size, count * _widest(dtype))
    inputs_gb = robots * (robot_gb(manifest) or 0.0)
    inputs_gb += WORKSPACE_GB + family.recordings * RECORDING_GB
    return PeakMemory(BLOCKS * weights / 1e9, inputs_gb + 2 * largest / 1e9)


def _packs(name: str, shape: tuple[int, ...], places: tuple[str, ...], least: int) -> bool:
    """Whether a tensor is the weight of a linear layer that is packed as it is read; tables of words are none."""
    is_linear = name.endswith(".weight") and "embed" not in name and not name.endswith("lm_head.weight")
    return is_linear and packable(shape, least) and any(name.startswith(place) for place in places)


def _widest(dtype: str) -> int:
    """Return the most bytes that a number takes in memory."""
    return 4 if dtype == "fp32" else 2
