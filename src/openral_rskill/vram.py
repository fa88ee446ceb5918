"""Checks before loading whether all skills of a deployment fit into the accelerator's memory."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from openral_core.errors import ContractError, UsageError
from openral_core.manifest import RSkillManifest
from openral_core.manifest.family_rules import server_elsewhere
from openral_rskill.peak_memory import peak_of, robot_gb
from openral_rskill.registry import RSkillPackage

MARGIN_GB = 0.5
"""[GB] left free for uncounted memory: the display, the simulator's renderer, fragmentation."""
CONTEXT_GB = 0.8
"""[GB] that CUDA takes for each process by itself: 0.67 to 0.80 with torch 2.11 on an H200, most where calls are
recorded as graphs; 0.5 to 0.65 on an H100 without."""
_TIMEOUT_S = 60.0
_MIB_GB = 1024**2 / 1e9

Probe = Callable[[int], "float | None"]
"""Index of an accelerator -> [GB] free on it; None: there is none, or it cannot be asked."""


@dataclass(frozen=True)
class Need:
    """The memory that one skill needs."""

    name: str
    """The skill's short name."""
    gb: float | None
    """[GB] None: nothing is known."""
    note: str
    """Where the number is from, if it is not `min_vram_gb` of the manifest."""
    smaller: str = ""
    """How to take the smallest number format that the manifest knows; empty: it is taken already."""


@dataclass(frozen=True)
class Budget:
    """The memory that a deployment needs, and the free memory."""

    needs: tuple[Need, ...]
    device: str
    free_gb: float | None
    """[GB] None: the device has no memory of its own to count, or it cannot be asked."""
    robots: int = 1
    """Whose inputs are in one batch."""

    @property
    def needed_gb(self) -> float:
        """[GB] all that is known, a CUDA context for each skill's process, and the margin."""
        return sum((need.gb or 0.0) + CONTEXT_GB for need in self.needs) + MARGIN_GB

    @property
    def is_counted(self) -> bool:
        """Whether there is a memory to count; a CPU has none."""
        return self.device != "cpu"

    @property
    def fits(self) -> bool:
        """Whether it fits; a device that cannot be asked fits nothing."""
        return not self.is_counted or (self.free_gb is not None and self.needed_gb <= self.free_gb)

    @property
    def found(self) -> str:
        """The free memory, as text."""
        if not self.is_counted:
            return "cpu, no accelerator memory needed"
        return (
            f"{self.free_gb:.1f} GB free on {self.device}"
            if self.free_gb is not None
            else f"no {self.device}"
        )

    @property
    def needed(self) -> str:
        """The needed memory with its parts, as text."""
        parts = [
            f"{need.name} {'' if need.gb is None else f'{need.gb:.3g}'}{need.note}" for need in self.needs
        ]
        contexts = [f"{len(parts)} x {CONTEXT_GB:g} of CUDA"] if parts else []
        return f"{self.needed_gb:.1f} GB ({' + '.join([*parts, *contexts, f'margin {MARGIN_GB:g}'])})"

    @property
    def fix(self) -> str:
        """How to make the deployment fit, as text."""
        if self.free_gb is None:
            return "use --device cpu, or fix the driver: nvidia-smi"
        formats = [need.smaller for need in self.needs if need.smaller]
        fewer = [f"write less than --num-envs {self.robots}"] if self.robots > 1 else []
        return ", ".join(
            ["end what else uses the device (nvidia-smi)", *fewer, *formats, "or use --device cpu"]
        )


def budget(
    packages: Sequence[RSkillPackage], device: str, probe: Probe | None = None, *, robots: int = 1
) -> Budget:
    """Add up what skills need on a device: what their manifests say, else at least their weights' own size.

    Args:
        packages: all skills that run together, the reward model too.
        device: `cpu`, `cuda` or `cuda:<index>`.
        probe: measures free memory; None: `free_gb`.
        robots: whose inputs are in one batch; manifests speak of one.

    Raises:
        UsageError: the device is written in another way.
    """
    # What a server holds that runs already is not free any more: counting it would count it twice.
    needs = tuple(
        _need(package, robots)
        for package in packages
        if package.manifest.weights_uri and server_elsewhere(package.manifest.model_family) is None
    )
    name, _, index = device.partition(":")
    if not re.fullmatch(r"(cpu|cuda)(:[0-9]{1,9})?", device):
        raise UsageError(f"device '{device}' is not known; write cpu, cuda or cuda:<index>")
    if name == "cpu":
        return Budget(needs, "cpu", None)
    return Budget(needs, device, (probe or free_gb)(int(index or 0)), robots)


def require_budget(found: Budget) -> None:
    """Raise ContractError, one line, unless it fits."""
    if not found.fits:
        raise ContractError(f"accelerator memory: {found.found}, needed {found.needed}; {found.fix}")


def default_device(probe: Probe | None = None) -> str:
    """Return `cuda` where there is an accelerator that can be asked, else `cpu`."""
    return "cpu" if (probe or free_gb)(0) is None else "cuda"


def free_gb(index: int, environment: Mapping[str, str] = os.environ) -> float | None:
    """Measure the free memory of an NVIDIA device [GB], in the numbering that CUDA programs see."""
    listed = environment.get("CUDA_VISIBLE_DEVICES")
    if listed is None:
        name = str(index)
    elif index < len(visible := _visible(listed)):
        name = visible[index]
    else:
        return None
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return _free_by_torch(index)
    command = [tool, f"--id={name}", "--query-gpu=memory.free", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=True)
        return int(done.stdout.split()[0]) * _MIB_GB
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return _free_by_torch(index)


def _visible(listed: str) -> list[str]:
    """Return the devices that a value of CUDA_VISIBLE_DEVICES names.

    CUDA reads the list up to its first entry that is no device, such as -1; an empty list hides every device.
    """
    names = [part.strip() for part in listed.split(",")]
    return list(itertools.takewhile(lambda name: name != "" and not name.startswith("-"), names))


def _free_by_torch(index: int) -> float | None:
    """Ask torch, if this process has it already: importing it takes seconds and memory of its own."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available() or index >= torch.cuda.device_count():
        return None
    return float(torch.cuda.mem_get_info(index)[0]) / 1e9


def _need(package: RSkillPackage, robots: int) -> Need:
    manifest, dtype = package.manifest, package.manifest.quantization.dtype
    stated, batch = manifest.min_vram_gb.get(dtype), f" for {robots} robots" if robots > 1 else ""
    if stated is not None:
        more = (robots - 1) * (robot_gb(manifest) or 0.0)
        return Need(manifest.short_name, stated + more, batch, _smaller(manifest, stated))
    computed = peak_of(package, robots)
    if computed is not None:
        return Need(manifest.short_name, computed.gb, f" computed from its files{batch}")
    size = package.weights_bytes()
    if size is not None:
        return Need(manifest.short_name, size / 1e9, " for its weights alone")
    return Need(manifest.short_name, None, f"not stated for {dtype}")


def _smaller(manifest: RSkillManifest, stated: float) -> str:
    dtype, least = min(manifest.min_vram_gb.items(), key=lambda entry: entry[1])
    if least >= stated:
        return ""
    place = f"{manifest.short_name}'s rskill.yaml"
    return f"write quantization.dtype: {dtype} into {place} ({least:.3g} in place of {stated:.3g} GB)"
