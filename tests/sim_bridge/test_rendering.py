"""Looks: light meshes that change pictures a little and physics not at all; cameras that are where they say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import mujoco
import numpy as np
import pytest

from openral_core.errors import NotFoundError
from openral_sim_bridge.backend import Snapshot
from openral_sim_bridge.backends.metaworld.backend import MetaWorldBackend
from openral_sim_bridge.coordinate_frames import intrinsics
from openral_sim_bridge.rendering import decimation
from openral_sim_bridge.rendering.decimation import with_light_meshes
from openral_sim_bridge.rendering.renderer import PROFILES, profile

TASK = "pick-place-v3"
MOST = 1500
SEEN = {
    "mesh_vert",
    "mesh_vertnum",
    "mesh_face",
    "mesh_facenum",
    "mesh_facenormal",
    "mesh_facetexcoord",
    "mesh_graphadr",
}
"""What the eye's copy of a model may differ in."""
CAMERAS = ("topview", "corner", "corner2", "corner3", "corner4", "behindGripper", "gripperPOV")


@pytest.fixture(scope="module")
def backend() -> Iterator[MetaWorldBackend]:
    made = MetaWorldBackend([TASK], width=200, height=200)
    made.reset([TASK], [0])
    yield made
    made.close()


def arrays(model: mujoco.MjModel) -> dict[str, bytes]:
    found = {name: getattr(model, name) for name in dir(model) if not name.startswith("_")}
    return {name: value.tobytes() for name, value in found.items() if isinstance(value, np.ndarray)}


def test_only_the_eyes_copy_is_lighter_and_only_in_its_meshes(backend: MetaWorldBackend) -> None:
    model = backend.world(0).model
    before = arrays(model)
    light = with_light_meshes(model, MOST)
    assert arrays(model) == before
    after = arrays(light)
    assert {name for name in before if before[name] != after[name]} <= SEEN
    assert model.mesh_facenum.max() > 10_000
    assert light.mesh_facenum.max() < 1.1 * MOST
    small = model.mesh_facenum <= MOST
    np.testing.assert_array_equal(light.mesh_facenum[small], model.mesh_facenum[small])


def test_what_was_decimated_once_is_read(
    backend: MetaWorldBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENRAL_CACHE_HOME", str(tmp_path))
    model = backend.world(0).model
    first = arrays(with_light_meshes(model, 4000))
    stored = sorted((tmp_path / "meshes").iterdir())
    assert len(stored) == (model.mesh_facenum > 4000).sum()
    broken = stored[0]
    broken.write_bytes(broken.read_bytes()[:1000])
    made: list[int] = []
    real = decimation.decimate
    monkeypatch.setattr(decimation, "decimate", lambda *words: made.append(1) or real(*words))
    assert arrays(with_light_meshes(model, 4000)) == first
    assert len(made) == 1, "only the broken one was made anew"
    assert arrays(with_light_meshes(model, 4000)) == first
    assert len(made) == 1


def test_the_picture_is_nearly_the_same_and_physics_is_the_same(backend: MetaWorldBackend) -> None:
    """`fast` against the same look with whole meshes."""
    whole = PROFILES["fast"].__class__(**{**vars(profile("fast")), "name": "whole", "max_faces": None})
    PROFILES["whole"] = whole
    pictures, states = [], []
    try:
        for look in ("fast", "whole"):
            other = MetaWorldBackend([TASK], width=128, height=128, render_profile=look)
            other.reset([TASK], [3])
            rng = np.random.default_rng(0)
            for _ in range(15):
                image = other.render(["corner2"])["corner2"][0]
                other.step(rng.uniform(-1, 1, (1, 4)))
            pictures.append(image.astype(int))
            data = other.world(0).data
            states.append(data.qpos.tobytes() + data.qvel.tobytes())
            other.close()
    finally:
        del PROFILES["whole"]
    assert states[0] == states[1]
    difference = np.abs(pictures[0] - pictures[1])
    assert 0 < difference.mean() < 1.0
    assert (difference.max(axis=-1) > 30).mean() < 0.01


@pytest.mark.parametrize("name", CAMERAS)
def test_a_thing_is_where_the_camera_says_and_the_picture_is_upright(
    backend: MetaWorldBackend, name: str
) -> None:
    """The pixels that go when the puck goes lie around the puck's place, as the camera's model projects it."""
    world = backend.snapshot()
    data = backend.world(0).data
    hand, turn = data.body("hand").xpos.copy(), data.body("hand").xmat.reshape(3, 3).copy()
    place = hand + np.array([0.08, 0.1, -0.12])
    images = []
    for where in (place, [0.0, 0.6, -3.0]):
        qpos = world.qpos.copy()
        qpos[9:12] = where
        backend.restore(Snapshot(qpos, world.mocap_pos))
        images.append(backend.render([name])[name][0].astype(int))
    backend.restore(world)
    rows, columns = np.nonzero(np.abs(images[0] - images[1]).max(axis=-1) > 20)
    assert len(rows) > 10, "it is to be seen"
    camera = backend.camera(name)
    on_hand = name in ("behindGripper", "gripperPOV")
    assert camera.parent == ("hand" if on_hand else "world")
    position, rotation = camera.position, camera.rotation
    if on_hand:
        position, rotation = hand + turn @ position, turn @ rotation
    seen = rotation.T @ (place - position)
    u, v, _ = intrinsics(camera) @ (seen / seen[2])
    assert abs(columns.mean() + 0.5 - u) < 5
    assert abs(rows.mean() + 0.5 - v) < 5
    assert rotation[2, 1] < 0.1, "what is down in the picture is down in the world, or there is no down"


def test_an_unknown_look_is_named() -> None:
    with pytest.raises(NotFoundError, match="render_profile: there is no 'nice'; use one of published, fast"):
        profile("nice")
