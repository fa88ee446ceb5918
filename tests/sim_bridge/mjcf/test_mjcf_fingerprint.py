"""A scene's fingerprint changes with every file that decides what happens in it, and with nothing else."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from mjcf_parts import MODEL, write_scene

from openral_core.scene import load_scene
from openral_sim_bridge.backends.fingerprint import fingerprint

WEDGE = "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 0 {}\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
INCLUDED = '<mujoco><asset><mesh name="wedge" file="wedge.obj"/></asset></mujoco>'
WITH_MESH = MODEL.replace("<worldbody>", '<include file="assets.xml"/><worldbody>', 1).replace(
    '<geom name="floor"', '<geom type="mesh" mesh="wedge" pos="0 -1 0"/><geom name="floor"'
)
CHANGES: dict[str, tuple[Callable[[Path], None], set[str]]] = {
    "the model": (lambda f: replace(f / "model.xml", 'mass="0.5"', 'mass="0.6"'), {"model"}),
    "an included file": (lambda f: replace(f / "assets.xml", 'file="', 'scale="2 2 2" file="'), {"model"}),
    "a mesh": (lambda f: replace(f / "wedge.obj", "0.1\nf", "0.2\nf"), {"model"}),
    "the robot": (
        lambda f: replace(f / "robot.yaml", "velocity_limit: 1.0", "velocity_limit: 0.5"),
        {"robot"},
    ),
    "a remark": (lambda f: replace(f / "model.xml", "<worldbody>", "<!-- here --><worldbody>"), set()),
}


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    # MuJoCo keeps a mesh in memory until its file's time changes, which it reads in whole seconds.
    later = path.stat().st_mtime + 10
    os.utime(path, (later, later))


@pytest.fixture
def scene_file(tmp_path: Path) -> Path:
    path = write_scene(tmp_path / "here", model=WITH_MESH)
    (path.parent / "assets.xml").write_text(INCLUDED)
    (path.parent / "wedge.obj").write_text(WEDGE.format(0.1))
    return path


@pytest.mark.parametrize("what", CHANGES)
def test_it_changes_with_the_files(scene_file: Path, what: str) -> None:
    before = fingerprint(load_scene(scene_file))
    assert set(before) == {"robot", "model"}
    change, changed = CHANGES[what]
    change(scene_file.parent)
    after = fingerprint(load_scene(scene_file))
    assert {name for name in before if before[name] != after[name]} == changed


def test_it_is_the_same_in_another_folder(scene_file: Path, tmp_path: Path) -> None:
    moved = shutil.copytree(scene_file.parent, tmp_path / "elsewhere" / "deep")
    assert fingerprint(load_scene(moved / "scene.yaml")) == fingerprint(load_scene(scene_file))


def test_a_scene_of_a_simulators_own_has_its_robots_alone() -> None:
    assert set(fingerprint(load_scene("metaworld_mini"))) == {"robot"}
