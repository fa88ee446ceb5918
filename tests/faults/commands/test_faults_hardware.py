"""An accelerator without memory, and a machine without EGL."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from faults_commands import run
from faults_files import WORDS, World

from openral_sim_bridge.rendering.opengl import has_osmesa

FREE_MB = 300


def nvidia_smi(folder: Path, free_mb: int) -> Path:
    """Write a driver's tool that says how much is free, and return its folder."""
    folder.mkdir()
    tool = folder / "nvidia-smi"
    tool.write_text(f"#!/bin/sh\necho {free_mb}\n")
    tool.chmod(0o755)
    return folder


def test_skills_that_do_not_fit_are_refused_with_both_numbers(tmp_path: Path, figure: Any) -> None:
    world = World(tmp_path)
    large = world.skill(
        "large", "fake", {}, min_vram_gb={"fp32": 8.0}, quantization={"dtype": "fp32"}, **WORDS
    )
    scene = world.write_scene("large.yaml", skills=[large])
    path = f"{nvidia_smi(tmp_path / 'bin', FREE_MB)}:/usr/bin:/bin"
    words = (
        "deploy",
        "sim",
        "--config",
        str(scene),
        "--device",
        "cuda",
        "--no-video",
        "--run-dir",
        str(tmp_path / "r"),
    )
    ran = run("openral", *words, cwd=tmp_path, PATH=path)
    said = " ".join(ran.said.split())
    assert ran.code == 1, ran.said
    assert "0.3 GB free on cuda, needed 9.3 GB" in said, ran.said
    assert "Traceback" not in said
    assert not (tmp_path / "r" / "truth.npz").exists(), "it was tried all the same"
    figure(
        row=29,
        injected="a deployment that needs 8 GB on a device with 0.3 GB free (by a fake nvidia-smi)",
        times=1,
        happened="refused before anything was loaded, with need and free",
        bar="at most 1 try",
    )


@pytest.mark.skipif(
    shutil.which("nvidia-smi") is None, reason="no NVIDIA driver: an accelerator cannot be filled"
)
def test_memory_that_runs_out_while_a_skill_loads_is_one_error(tmp_path: Path, figure: Any) -> None:
    """Another process takes nearly all of the accelerator's memory, after the gate has looked."""
    code = (
        "import torch\n"
        "free, _ = torch.cuda.mem_get_info()\n"
        "held = torch.empty(free - (200 << 20), dtype=torch.uint8, device='cuda')\n"
        "print('full', flush=True)\n"
        "input()\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as hog:
        assert hog.stdout is not None
        assert hog.stdout.readline() == b"full\n"
        words = ("deploy", "sim", "--config", "metaworld_drawer", "--device", "cuda", "--no-video")
        ran = run("openral", *words, "--run-dir", str(tmp_path / "run"))
        hog.communicate(b"\n")
    assert ran.code == 1, ran.said
    assert "memory" in ran.said
    assert "Traceback" not in ran.said
    figure(
        row=29,
        injected="a deployment while another process fills the accelerator",
        times=1,
        happened="refused in a line",
        bar="at most 1 try",
    )


def test_doctor_says_what_draws_where_egl_is_missing(tmp_path: Path, figure: Any) -> None:
    (tmp_path / "libEGL.so.1").write_bytes(b"")  # a file that the loader finds first and cannot load
    ran = run("openral", "doctor", LD_LIBRARY_PATH=str(tmp_path), MUJOCO_GL="", PYOPENGL_PLATFORM="")
    said = " ".join(ran.said.split())
    assert "Traceback" not in said
    if has_osmesa():
        assert "osmesa" in said.lower(), ran.said
    else:
        assert ran.code != 0
        assert "EGL" in said, ran.said
        assert "apt-get install" in said
    figure(
        row=30,
        injected="libEGL.so.1 cannot be loaded",
        times=1,
        happened="OSMesa draws, and doctor says so" if has_osmesa() else "doctor names what to install",
        bar="said by doctor",
    )
