"""MetaWorld through `Backend`, beside the bare environment and beside gymnasium's own way to a picture.

Both sides take turns in one process, with the same task, actions and size, and count CPU time: ratios of that hold on
a machine that has other things to do.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest

from openral_sim_bridge.backends.metaworld.backend import MetaWorldBackend

TASK, SIDE = "drawer-open-v3", 128
STEPS, FRAMES = 150, 15
STATE_ROUNDS, IMAGE_ROUNDS = 40, 4
STATE_BAR, IMAGE_BAR = 0.85, 2.5
ACTIONS = np.random.default_rng(0).uniform(-1, 1, (STEPS, 4)).astype(np.float32)


@pytest.fixture(scope="module")
def backend() -> Iterator[MetaWorldBackend]:
    made = MetaWorldBackend([TASK], width=SIDE, height=SIDE, render_profile="fast")
    yield made
    made.close()


@pytest.fixture(scope="module")
def stock() -> Iterator[Any]:
    """MetaWorld as gymnasium makes it: MT1, rendering to arrays."""
    import gymnasium
    import metaworld  # noqa: F401  (registers its environments)

    env = gymnasium.make(
        "Meta-World/MT1",
        env_name=TASK,
        seed=42,
        render_mode="rgb_array",
        camera_name="corner2",
        width=SIDE,
        height=SIDE,
    )
    yield env
    env.close()


def bare(stock: Any) -> Any:
    """The environment below gymnasium's wrappers."""
    return stock.unwrapped


class Side(NamedTuple):
    """One of two ways to do the same."""

    begin: Callable[[], object]
    """Not counted: an episode begins, so that both always move the same way."""
    run: Callable[[], None]


def per_step(count: int, rounds: int, *sides: Side) -> list[float]:
    """Return the least CPU seconds a step of each side; they take turns."""
    found = []
    for _ in range(rounds):
        row = []
        for side in sides:
            side.begin()
            start = time.process_time()
            side.run()
            row.append((time.process_time() - start) / count)
        found.append(row)
    least: list[float] = np.min(found, axis=0).tolist()
    return least


def test_state_only(backend: MetaWorldBackend, stock: Any, report: Callable[..., None]) -> None:
    env = bare(stock)

    def ours() -> None:
        for action in ACTIONS:
            backend.step(action[None])

    def theirs() -> None:
        for action in ACTIONS:
            env.step(action)

    begin = partial(backend.reset, [TASK], [0])
    ours_s, theirs_s = per_step(STEPS, STATE_ROUNDS, Side(begin, ours), Side(stock.reset, theirs))
    share = theirs_s / ours_s
    report(
        f"{TASK} through Backend, state and verdict, CPU time a step",
        f"{ours_s * 1e6:.0f} us, {share:.2f} x the rate",
        f"bare MetaWorld environment {theirs_s * 1e6:.0f} us",
        f">= {STATE_BAR:g} x the rate",
    )
    assert share >= STATE_BAR


def test_with_a_picture_each_step(backend: MetaWorldBackend, stock: Any, report: Callable[..., None]) -> None:
    seen: dict[str, tuple[int, ...]] = {}

    def ours() -> None:
        for action in ACTIONS[:FRAMES]:
            backend.step(action[None])
            seen["ours"] = backend.render(["corner2"])["corner2"][0].shape

    def theirs() -> None:
        for action in ACTIONS[:FRAMES]:
            stock.step(action)
            seen["theirs"] = stock.render().shape

    def begin_theirs() -> None:
        stock.reset()
        stock.render()  # makes its viewer, the first time
        # gymnasium takes its OpenGL context to be the current one, and would draw into ours, which costs it less.
        bare(stock).mujoco_renderer.viewer.make_context_current()

    begin = partial(backend.reset, [TASK], [0])
    ours_s, theirs_s = per_step(FRAMES, IMAGE_ROUNDS, Side(begin, ours), Side(begin_theirs, theirs))
    assert seen["ours"] == seen["theirs"] == (SIDE, SIDE, 3)
    gain = theirs_s / ours_s
    report(
        f"{TASK} with a {SIDE} px picture each step, look fast, CPU time a step",
        f"{ours_s * 1e3:.1f} ms, {gain:.1f} x the rate",
        f"gymnasium's step and render {theirs_s * 1e3:.1f} ms",
        f">= {IMAGE_BAR:g} x the rate",
    )
    assert gain >= IMAGE_BAR
