"""Pixels to points: exact for a known camera, a reason where there is no point, a covariance that fits the errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from openral_perception.geometry import DepthSettings, NotLocatedError, PinholeCamera, locate_pixel

WIDTH, HEIGHT = 96, 64


def turned(angles: tuple[float, float, float]) -> NDArray[np.float64]:
    a, b, c = angles
    x = np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])
    y = np.array([[np.cos(b), 0, np.sin(b)], [0, 1, 0], [-np.sin(b), 0, np.cos(b)]])
    z = np.array([[np.cos(c), -np.sin(c), 0], [np.sin(c), np.cos(c), 0], [0, 0, 1]])
    return z @ y @ x


def camera(angles=(0.3, -2.0, 1.0), position=(0.5, -0.2, 0.7)) -> PinholeCamera:
    return PinholeCamera(WIDTH, HEIGHT, 80.0, 75.0, WIDTH / 2, HEIGHT / 2, np.array(position), turned(angles))


def flat(depth_m: float) -> NDArray[np.float32]:
    return np.full((HEIGHT, WIDTH), depth_m, np.float32)


angle = st.floats(-3.0, 3.0)
metre = st.floats(-2.0, 2.0)


@given(
    st.tuples(angle, angle, angle),
    st.tuples(metre, metre, metre),
    st.floats(3.0, WIDTH - 3.01),
    st.floats(3.0, HEIGHT - 3.01),
    st.floats(0.1, 3.9),
)
def test_the_point_is_seen_where_it_was_asked_for(angles, position, u, v, depth_m):
    eye = camera(angles, position)
    found = locate_pixel(eye, flat(depth_m), u, v)
    assert eye.project(found.position) == pytest.approx((u, v, depth_m), abs=1e-4)
    assert found.confidence == 1.0
    eigenvalues = np.linalg.eigvalsh(found.covariance)
    assert eigenvalues.min() > 0.0
    assert np.allclose(found.covariance, found.covariance.T)


@given(st.floats(0.001, 0.2), st.floats(3.0, WIDTH - 3.01), st.floats(3.0, HEIGHT - 3.01))
def test_a_point_behind_the_surface_lies_on_the_same_ray(inward_m, u, v):
    eye = camera()
    surface, behind = (locate_pixel(eye, flat(1.0), u, v, inward_m=inward) for inward in (0.0, inward_m))
    assert np.linalg.norm(behind.position - surface.position) == pytest.approx(inward_m)
    assert eye.project(behind.position)[:2] == pytest.approx((u, v), abs=1e-6)


@settings(max_examples=10)
@given(st.floats(10.0, 80.0), st.floats(10.0, 50.0), st.floats(0.3, 2.0), st.integers(0, 2**31))
def test_the_covariance_is_that_of_errors_of_its_size(u, v, depth_m, seed):
    eye, believed = camera(), DepthSettings(pixel_sigma=1.0, depth_sigma_m=0.01)
    found = locate_pixel(eye, flat(depth_m), u, v, believed)
    rng, points = np.random.default_rng(seed), []
    for _ in range(800):
        noise = rng.normal(size=3)
        point = eye.unproject(u + noise[0], v + noise[1], depth_m + 0.01 * noise[2])
        offset = point - eye.position
        swing = np.cross(rng.normal(0.0, believed.rotation_sigma_rad, 3), offset)
        points.append(point + swing + rng.normal(0.0, believed.position_sigma_m, 3))
    ratio = np.diag(np.cov(np.array(points).T)) / np.diag(found.covariance)
    assert np.all(np.abs(np.log(ratio)) < 0.35)


def test_one_wrong_depth_does_not_move_the_point():
    depth = flat(1.0)
    depth[20, 30], depth[21, 31] = 0.4, np.nan
    found = locate_pixel(camera(), depth, 30.5, 20.5)
    assert found.depth_m == pytest.approx(1.0)
    assert found.confidence == pytest.approx(23 / 25)


@pytest.mark.parametrize(("u", "v"), [(-1, 5), (5, -0.01), (WIDTH, 5), (5, HEIGHT), (np.nan, 5), (np.inf, 5)])
def test_a_pixel_outside_is_refused(u, v):
    with pytest.raises(NotLocatedError, match="outside the picture, which is 96x64"):
        locate_pixel(camera(), flat(1.0), u, v)


@pytest.mark.parametrize(("u", "v"), [(0.5, 30), (30, 1.9), (WIDTH - 0.5, 30), (30, HEIGHT - 1.5)])
def test_a_pixel_at_the_border_is_refused(u, v):
    with pytest.raises(NotLocatedError, match="border"):
        locate_pixel(camera(), flat(1.0), u, v)


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0, -1.0, 0.01])
def test_no_depth_is_a_reason_and_no_number(value):
    with pytest.raises(NotLocatedError, match="only 0 of 25 pixels"):
        locate_pixel(camera(), flat(value), 30.0, 30.0)


def test_what_is_too_far_is_refused():
    with pytest.raises(NotLocatedError, match=r"5\.00 m away"):
        locate_pixel(camera(), flat(5.0), 30.0, 30.0)


def test_an_edge_is_refused():
    depth = flat(1.0)
    depth[:, 30:] = 1.5
    with pytest.raises(NotLocatedError, match=r"edge: depth around it goes from 1\.00 to 1\.50"):
        locate_pixel(camera(), depth, 30.0, 30.0, DepthSettings(least_surface=0.7))


def test_a_picture_of_another_size_is_refused():
    with pytest.raises(NotLocatedError, match="10x10, its camera_info says 96x64"):
        locate_pixel(camera(), np.ones((10, 10), np.float32), 5.0, 5.0)
