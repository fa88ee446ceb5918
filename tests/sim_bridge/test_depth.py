"""Depth images of the simulators, against the simulator's own geometry, and the fields of a scene that ask for them."""

from __future__ import annotations

from collections.abc import Iterator

import mujoco
import numpy as np
import pytest
from numpy.typing import NDArray

from openral_core.errors import ManifestError
from openral_core.scene import SceneCamera, load_scene
from openral_sim_bridge.backend import CameraModel
from openral_sim_bridge.backends.factory import make_backend
from openral_sim_bridge.backends.fake import FakeBackend
from openral_sim_bridge.backends.metaworld.backend import MetaWorldBackend
from openral_sim_bridge.backends.mjcf.backend import MjcfBackend
from openral_sim_bridge.coordinate_frames import intrinsics

FIVE_MM = 0.005
VISIBLE_GROUPS = np.array([1, 1, 1, 0, 0, 0], np.uint8)


DRAWER, TABLETOP = ("metaworld_drawer", "corner2"), ("tabletop_panda", "front")


@pytest.fixture(scope="module", params=[DRAWER, TABLETOP], ids=lambda names: names[0])
def seen(request) -> Iterator[tuple[MetaWorldBackend | MjcfBackend, str]]:
    scene, camera = request.param
    made = make_backend(load_scene(scene))
    assert isinstance(made, (MetaWorldBackend, MjcfBackend))
    made.reset([made.task_ids[0]], [1003])
    yield made, camera
    made.close()


def rays(camera: CameraModel) -> NDArray[np.float64]:
    """Directions (H, W, 3) in the world through the middle of each pixel, with 1 along the optical axis."""
    matrix = intrinsics(camera)
    v, u = np.mgrid[0 : camera.height, 0 : camera.width] + 0.5
    local = np.stack(
        [(u - matrix[0, 2]) / matrix[0, 0], (v - matrix[1, 2]) / matrix[1, 1], np.ones_like(u)], -1
    )
    return local @ camera.rotation.T


def test_every_pixel_is_as_far_as_the_ray_through_it(seen) -> None:
    backend, name = seen
    camera, world = backend.camera(name), backend.world(0)
    depth, geoms = (draw([name])[name][0] for draw in (backend.render_depth, backend.render_geoms))
    assert depth.dtype == np.float32
    directions, rng = rays(camera), np.random.default_rng(0)
    errors = []
    for row, column in rng.integers(0, camera.height, (400, 2)):
        hit = np.zeros(1, np.int32)
        true = mujoco.mj_ray(
            world.model, world.data, camera.position, directions[row, column], VISIBLE_GROUPS, 1, -1, hit
        )
        if hit[0] < 0:
            assert np.isinf(depth[row, column])
        elif hit[0] == geoms[row, column]:  # at an outline the two may be on either side of it
            errors.append(abs(true - depth[row, column]))
    assert len(errors) > 200
    assert np.quantile(errors, 0.99) < FIVE_MM


def test_depth_lies_pixel_by_pixel_beside_the_colour_image(seen) -> None:
    backend, name = seen
    image, geoms = backend.render([name])[name][0], backend.render_geoms([name])[name][0]
    depth = backend.render_depth([name])[name][0]
    assert depth.shape == image.shape[:2]
    # Where the sky begins, both say so; an image that is turned or shifted against the other would not.
    assert np.array_equal(np.isinf(depth), geoms < 0)
    np.testing.assert_array_equal(backend.render([name])[name][0], image)


@pytest.mark.parametrize("seen", [TABLETOP], indirect=True)
def test_the_cube_is_where_the_simulator_has_it(seen) -> None:
    backend, name = seen
    camera, world = backend.camera(name), backend.world(0)
    shown = backend.render_geoms([name])[name][0] == world.model.geom("cube").id
    depth = backend.render_depth([name])[name][0]
    points = camera.position + depth[shown][:, None] * rays(camera)[shown]
    cube = world.data.geom("cube")
    local = (points - cube.xpos) @ cube.xmat.reshape(3, 3)
    off = np.abs(
        np.abs(local).max(axis=1) - 0.02
    )  # every point lies on a face of the cube, which is 4 cm wide
    assert len(points) > 30
    assert np.quantile(off, 0.95) < FIVE_MM


@pytest.mark.parametrize("seen", [DRAWER], indirect=True)
def test_the_drawer_handle_is_where_the_simulator_has_it(seen) -> None:
    backend, name = seen
    camera, world = backend.camera(name), backend.world(0)
    geom = world.model.geom("objGeom").id
    shown = backend.render_geoms([name])[name][0] == geom
    points = camera.position + backend.render_depth([name])[name][0][shown][:, None] * rays(camera)[shown]
    half = world.model.geom_size[geom]  # of the box around the mesh, in the geom's own frame
    local = (points - world.data.geom_xpos[geom]) @ world.data.geom_xmat[geom].reshape(3, 3)
    assert len(points) > 10
    assert np.quantile(np.max(np.abs(local) - half, axis=1), 0.95) < FIVE_MM


def test_the_fake_world_has_a_floor() -> None:
    backend = FakeBackend(["reach"], num_envs=2, width=64, height=48)
    camera, depth = backend.camera("corner2"), backend.render_depth(["corner2"])["corner2"]
    assert depth.shape == (2, 48, 64)
    seen = np.isfinite(depth[0])
    points = camera.position + depth[0][seen][:, None] * rays(camera)[seen]
    assert 0.3 < seen.mean() < 1.0
    assert np.abs(points[:, 2]).max() < FIVE_MM


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"depth": False, "depth_rate_hz": 5}, "write depth: true"),
        ({"depth": True, "depth_rate_hz": 40}, "choose a divisor"),
        ({"depth": True, "depth_rate_hz": 7}, "choose a divisor"),
    ],
)
def test_a_depth_rate_that_does_not_fit_is_refused(tmp_path, fields, fault) -> None:
    import yaml

    from openral_core.files.share import share_directory

    document = yaml.safe_load((share_directory() / "scenes/deploy/metaworld_drawer.yaml").read_text())
    document["scene"]["cameras"][0].update(fields)
    path = tmp_path / "scene.yaml"
    path.write_text(yaml.safe_dump(document))
    with pytest.raises(ManifestError, match=fault):
        load_scene(path)


def test_depth_may_be_slower_than_colour() -> None:
    camera = SceneCamera(
        name="a", feature_key="a", width=8, height=8, rate_hz=20.0, depth=True, depth_rate_hz=4.0
    )
    assert camera.depth_every == 5


@pytest.mark.parametrize("seen", [DRAWER], indirect=True)
def test_metaworld_says_where_its_thing_is(seen) -> None:
    backend, _ = seen
    (name, position), *others = backend.object_positions().items()
    assert (name, others) == ("drawer handle", [])
    np.testing.assert_array_equal(position, backend.world(0).look("drawer-open-v3")[4:7])
