"""A reward skill of the fake family, written as files; a camera to watch, and the monitor as a process."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from reward_camera import FakeCamera
from reward_manifest import EMPTY_SAFETENSORS, MANIFEST, SCENE, SIZE
from warm_processes import Process, run_module

from openral_rskill.registry import RSkillPackage, resolve


@pytest.fixture
def make_reward(tmp_path: Path) -> Callable[..., RSkillPackage]:
    """Write a fake reward skill; keywords are its script, `manifest` changes fields of the manifest."""

    def make(manifest: dict[str, Any] | None = None, **script: Any) -> RSkillPackage:
        folder = tmp_path / "fake-progress"
        folder.mkdir(exist_ok=True)
        content = {**MANIFEST, "policy_extras": script, **(manifest or {})}
        (folder / "rskill.yaml").write_text(yaml.safe_dump(content))
        (folder / "model.safetensors").write_bytes(EMPTY_SAFETENSORS)
        return resolve(str(folder))

    return make


@pytest.fixture
def camera() -> Iterator[FakeCamera]:
    """A camera with clock, joints and status."""
    camera = FakeCamera(SIZE)
    yield camera
    camera.close()


@pytest.fixture
def start(make_reward, tmp_path: Path) -> Iterator:
    """Start the monitor as a process; keywords are the script of its model. Its log is in `tmp_path / "log.txt"`."""
    processes = []
    log = tmp_path / "log.txt"

    def run(
        parameters: dict[str, Any] | None = None, manifest: dict[str, Any] | None = None, **script: Any
    ) -> Process:
        scene = tmp_path / "scene.yaml"
        scene.write_text(yaml.safe_dump(SCENE))
        values = {
            "skill": make_reward(manifest, **script).folder,
            "scene": scene,
            "use_sim_time": "true",
            **(parameters or {}),
        }
        arguments = [part for name, value in values.items() for part in ("-p", f"{name}:={value}")]
        with log.open("w") as output:
            process = run_module(
                "openral_reward_monitor.ros.monitor_node",
                "--ros-args",
                *arguments,
                environment={**os.environ, "OMP_NUM_THREADS": "1"},
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        processes.append(process)
        return process

    yield run
    for process in processes:
        process.kill()
        process.wait()
    if processes:
        print(log.read_text())
