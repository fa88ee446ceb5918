"""Where a chunk leads the hand, as it is drawn."""

from __future__ import annotations

import numpy as np
import pytest

from openral_console.live.planned_path import box_edges, planned_points
from openral_core.errors import ContractError

START = np.array([0.1, 0.6, 0.2])


def test_displacements_add_up_from_the_set_point(scene):
    data = np.tile(np.array([1.0, 0.0, -0.5, 1.0], np.float32), (4, 1))
    points = planned_points(scene, data, START, 0.0)
    step_m = scene.action.step_m
    assert points.shape == (5, 3)
    assert points[0].tolist() == START.tolist()
    assert points[-1] == pytest.approx(START + 4 * step_m * np.array([1.0, 0.0, -0.5]))


def test_steps_that_are_past_lead_nowhere(scene):
    data = np.tile(np.array([1.0, 0.0, 0.0, 1.0], np.float32), (4, 1))
    assert len(planned_points(scene, data, START, 3 * scene.dt)) == 2
    assert planned_points(scene, data, START, 10.0).tolist() == [START.tolist()]


@pytest.mark.parametrize("data", [np.full((4, 4), np.nan, np.float32), np.zeros((4, 7), np.float32)])
def test_what_does_not_fit_the_contract_is_not_drawn(scene, data):
    with pytest.raises(ContractError, match="finite numbers"):
        planned_points(scene, data, START, 0.0)


def test_a_box_has_twelve_edges_along_its_axes():
    low, high = np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.0])
    edges = box_edges(low, high).reshape(12, 2, 3)
    lengths = sorted(np.linalg.norm(end - begin) for begin, end in edges)
    assert lengths == [1.0] * 4 + [2.0] * 4 + [3.0] * 4
    assert len({(*begin, *end) for begin, end in edges.tolist()}) == 12
    assert {tuple(point) for point in edges.reshape(-1, 3).tolist()} == {
        (x, y, z) for x in (0.0, 1.0) for y in (1.0, 3.0) for z in (2.0, 5.0)
    }
