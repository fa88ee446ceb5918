"""Conditions against states that are known beforehand."""

from __future__ import annotations

from typing import Any

import mujoco
import pytest

from openral_sim_bridge.backends.mjcf.conditions import Conditions, SceneCondition
from openral_sim_bridge.backends.mjcf.name_lookup import Naming

MODEL = mujoco.MjModel.from_xml_string(
    """
<mujoco>
  <worldbody>
    <body name="tray" pos="1 0 0" euler="0 0 90"><site name="corner" pos="0.1 0.2 0"/></body>
    <body name="cube" pos="1 0.15 0.3"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body>
    <body name="block" pos="3 0 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body>
    <body name="lid" pos="0 3 0"><joint name="lid" axis="0 1 0"/><geom size="0.1"/></body>
  </worldbody>
</mujoco>
"""
)


def holds(condition: dict[str, Any], **places: tuple[float, float, float] | float) -> bool:
    """Whether a condition holds with things put elsewhere: bodies to positions, the lid to an angle."""
    data = mujoco.MjData(MODEL)
    for name, place in places.items():
        joint = MODEL.body(name).jntadr[0]
        address = MODEL.jnt_qposadr[joint]
        data.qpos[address : address + (1 if name == "lid" else 3)] = place
    mujoco.mj_forward(MODEL, data)
    naming = Naming(MODEL, {"kubus": "cube"})
    judge = Conditions(MODEL, naming).judge(SceneCondition.model_validate(condition), "success.task")
    assert not naming.faults
    return judge(data)


@pytest.mark.parametrize(
    ("condition", "yes", "no"),
    [
        ({"height": {"of": "cube", "above": 0.2}}, {}, {"cube": (1, 0, 0.19)}),
        ({"height": {"of": "corner", "below": 0.1, "above": -0.1}}, {}, None),
        ({"joint": {"of": "lid", "above": 0.5, "below": 1.0}}, {"lid": 0.7}, {"lid": 1.1}),
        (
            {"inside": {"of": "kubus", "low": (0.9, 0.1, 0), "high": (1.1, 0.2, 1)}},
            {},
            {"cube": (1, 0.3, 0.3)},
        ),
        # The tray is turned by 90 degrees: the cube lies 0.15 m along its x axis.
        (
            {"inside": {"of": "cube", "frame": "tray", "low": (0.1, -0.05, 0), "high": (0.2, 0.05, 1)}},
            {},
            {"cube": (1.15, 0.0, 0.3)},
        ),
        (
            {"near": {"of": ("cube", "corner"), "within_m": 0.25}},
            {"cube": (0.8, 0.1, 0.2)},
            {"cube": (1, 0.1, 0.3)},
        ),
        ({"touching": ("block", "cube")}, {"cube": (3, 0.05, 0.29)}, {"cube": (3, 0.05, 0.35)}),
        ({"not": {"touching": ("cube", "block")}}, {}, {"cube": (3, 0.05, 0.29)}),
        (
            {"all": ({"height": {"of": "cube", "above": 0.2}}, {"joint": {"of": "lid", "above": 0.5}})},
            {"lid": 0.6},
            {},
        ),
        (
            {"any": ({"height": {"of": "cube", "above": 1.0}}, {"joint": {"of": "lid", "above": 0.5}})},
            {"lid": 0.6},
            {},
        ),
    ],
)
def test_a_condition_holds_where_it_says_and_nowhere_else(condition, yes, no) -> None:
    assert holds(condition, **yes)
    assert no is None or not holds(condition, **no)
