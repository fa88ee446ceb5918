"""A renderer draws in the OpenGL context that another of its thread has left as it does in a new one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import mujoco
import numpy as np
import pytest
from numpy.typing import NDArray

from openral_sim_bridge.rendering.renderer import OffscreenRenderer, profile
from openral_sim_bridge.rendering.used_contexts import KEPT, UsedContexts

WORLD = """<mujoco>
<asset>
  <texture name="sky" type="skybox" builtin="gradient" rgb1=".3 .5 .7" rgb2="0 0 0" width="32" height="32"/>
  <texture name="floor" type="2d" builtin="checker" rgb1=".1 .2 .3" rgb2=".9 .8 .7" width="{width}" height="96"/>
  <material name="floor" texture="floor" texrepeat="5 5" reflectance=".3"/>
</asset>
<worldbody>
  <light pos="0 0 3"/>
  <geom type="plane" size="2 2 .1" material="floor"/>
  <geom type="{kind}" size=".3 .3 .3" pos="0 0 .4" rgba=".8 .2 .2 1"/>
  <camera name="eye" pos="0 -2 1" xyaxes="1 0 0 0 .4 .9"/>
</worldbody>
</mujoco>"""
BOX = WORLD.format(width=96, kind="box")
BALL = WORLD.format(width=130, kind="sphere")


@pytest.fixture(autouse=True)
def none_left(monkeypatch: pytest.MonkeyPatch) -> UsedContexts:
    """Where renderers of a test leave their contexts."""
    used = UsedContexts()
    monkeypatch.setattr("openral_sim_bridge.rendering.renderer.USED", used)
    return used


def drawn(xml: str, side: int, look: str) -> tuple[NDArray[np.uint8], NDArray[np.float32], Any]:
    """Return picture and depth from a renderer that was made and closed, and its context."""
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    with OffscreenRenderer(model, side, side, profile(look)) as renderer:
        context = renderer._renderer._gl_context
        return renderer.render(data, "eye").copy(), renderer.render_depth(data, "eye"), context


def test_pictures_in_a_used_context_are_those_of_a_new_one(none_left: UsedContexts) -> None:
    kinds = [(BOX, 64, "fast"), (BALL, 96, "published"), (BALL, 48, "fast"), (BOX, 64, "fast")]
    used = [drawn(*kind) for kind in kinds]
    assert len({id(context) for *_, context in used}) == 1
    for kind, (picture, depth, _) in zip(kinds, used, strict=True):
        none_left._contexts.clear()
        fresh = drawn(*kind)
        assert picture.std() > 10
        np.testing.assert_array_equal(picture, fresh[0])
        np.testing.assert_array_equal(depth, fresh[1])


@pytest.mark.slow
def test_contexts_of_renderers_that_draw_at_the_same_time_are_two(none_left: UsedContexts) -> None:
    model = mujoco.MjModel.from_xml_string(BOX)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    alone = drawn(BOX, 64, "fast")[0]
    renderers = [OffscreenRenderer(model, 64, 64, profile("fast")) for _ in range(KEPT + 1)]
    for renderer in (*renderers, *reversed(renderers)):
        np.testing.assert_array_equal(renderer.render(data, "eye"), alone)
    for renderer in renderers:
        renderer.close()
        renderer.close()
    assert len(none_left._contexts) == KEPT
    assert len(set(map(id, none_left._contexts))) == KEPT


def test_a_context_stays_in_its_thread(none_left: UsedContexts) -> None:
    model = mujoco.MjModel.from_xml_string(BOX)
    with ThreadPoolExecutor(1) as thread:
        renderer = thread.submit(OffscreenRenderer, model, 64, 64, profile("fast")).result()
        renderer.close()
        assert none_left._contexts == thread.submit(lambda: none_left._contexts).result() == []
        thread.submit(drawn, BOX, 64, "fast").result()
        assert none_left._contexts == []
        assert len(thread.submit(lambda: none_left._contexts).result()) == 1
