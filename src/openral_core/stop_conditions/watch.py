"""Says when a condition of a goal holds. Pure: states, commands and readings come in, a verdict goes out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from openral_core.progress_judgement import Progress, ProgressReading, ProgressThresholds, assess
from openral_core.stop_conditions.fingers import FingersAtRest, FingerTravel
from openral_core.stop_conditions.models import (
    GripperClosed,
    JudgedDone,
    Lifted,
    Reached,
    Still,
    StopCondition,
)
from openral_core.stop_conditions.sliding_window import Window
from openral_core.types import RobotState

MAX_READINGS = 512
"""Newest readings of the reward monitor that are kept."""


@dataclass(frozen=True)
class FiredCondition:
    """A condition that holds."""

    name: str
    reason: str
    """With the numbers that say so."""


_Judge = Callable[[RobotState, bool | None], str | None]
"""(state, whether the fingers were told to close) -> why the condition holds, or None."""


class ConditionWatch:
    """Watches the conditions of one goal.

    Call `look` with every observation of the goal, in the order of their stamps: the deployment does so at the rate
    of its cameras, a rollout may at every control step.
    """

    def __init__(
        self,
        conditions: Sequence[StopCondition],
        fingers: FingerTravel,
        thresholds: ProgressThresholds | None = None,
    ) -> None:
        """Begin with a goal.

        Args:
            conditions: of the goal; where several hold at once, the first of them is told.
            fingers: travel of the robot's fingers.
            thresholds: of the reward skill, for `done`; None: the defaults.
        """
        self._readings: list[ProgressReading] = []
        self._judges = [(c.name, self._judge(c, fingers, thresholds)) for c in conditions]

    def look(self, state: RobotState, closing: bool | None) -> FiredCondition | None:
        """Return the condition that holds now, or None.

        Args:
            state: of the robot.
            closing: whether the last action executed tells the fingers to close (`commands_closing`); None: nobody
                knows, and conditions that need it do not hold.
        """
        found = [(name, judge(state, closing)) for name, judge in self._judges]
        return next((FiredCondition(name, reason) for name, reason in found if reason is not None), None)

    def reading(self, reading: ProgressReading) -> None:
        """Take a reading of the reward monitor of this goal; one that is not newer than the last tells nothing."""
        if not self._readings or reading.stamp_s > self._readings[-1].stamp_s:
            self._readings = [*self._readings[1 - MAX_READINGS :], reading]

    def _judge(
        self, condition: StopCondition, fingers: FingerTravel, thresholds: ProgressThresholds | None
    ) -> _Judge:
        if isinstance(condition, Lifted):
            return _LiftedJudge(condition, fingers)
        if isinstance(condition, GripperClosed):
            return _GripperClosedJudge(condition, fingers)
        if isinstance(condition, Reached):
            return partial(_reached, condition)
        if isinstance(condition, Still):
            return _StillJudge(condition)
        return partial(self._done, _with_dwell(thresholds or ProgressThresholds(), condition))

    def _done(self, thresholds: ProgressThresholds, state: RobotState, closing: bool | None) -> str | None:
        stands = assess(self._readings, thresholds)
        if stands.progress is not Progress.SUCCEEDED:
            return None
        return f"{stands.dwell} readings of the reward monitor in a row say that it is done"


def _with_dwell(thresholds: ProgressThresholds, condition: JudgedDone) -> ProgressThresholds:
    if condition.readings is None:
        return thresholds
    return thresholds.model_copy(update={"dwell": condition.readings})


def _reached(condition: Reached, state: RobotState, closing: bool | None) -> str | None:
    away = float(np.linalg.norm(state.ee_position - np.asarray(condition.position)))
    if not away <= condition.tolerance_m:
        return None
    return f"the hand is {away:.3f} m from where it should be"


class _LiftedJudge:
    def __init__(self, condition: Lifted, fingers: FingerTravel) -> None:
        self._condition, self._fingers = condition, fingers
        self._rest = FingersAtRest()
        self._lowest: float | None = None
        """[m] of the hand since the fingers were told to close; None: they are not."""

    def __call__(self, state: RobotState, closing: bool | None) -> str | None:
        height, opening = float(state.ee_position[2]), state.gripper_opening
        at_rest = self._rest.look(state.stamp_s, opening, closing)
        if not closing:
            self._lowest = None
            return None
        self._lowest = height if self._lowest is None else min(self._lowest, height)
        risen = height - self._lowest
        if not at_rest or not self._fingers.is_between(opening, self._condition.closed_m):
            return None
        if not risen >= self._condition.height_m:
            return None
        return f"the hand rose {risen:.3f} m with the fingers on something, {opening:.3f} m apart"


class _GripperClosedJudge:
    def __init__(self, condition: GripperClosed, fingers: FingerTravel) -> None:
        self._condition, self._fingers = condition, fingers
        self._rest = FingersAtRest(condition.duration_s)
        self._below = Window(condition.duration_s)

    def __call__(self, state: RobotState, closing: bool | None) -> str | None:
        opening, limit = state.gripper_opening, self._condition.opening_m
        at_rest = self._rest.look(state.stamp_s, opening, closing)
        if limit is None:
            held = "something" if self._fingers.is_between(opening) else "nothing"
            return f"the fingers are closed on {held}, {opening:.3f} m apart" if at_rest else None
        if not opening < limit:
            self._below.clear()
            return None
        self._below.add(state.stamp_s, (opening,))
        return f"the fingers are {opening:.3f} m apart" if self._below.covered else None


class _StillJudge:
    def __init__(self, condition: Still) -> None:
        self._condition = condition
        self._window = Window(condition.duration_s)
        self._began_s: float | None = None

    def __call__(self, state: RobotState, closing: bool | None) -> str | None:
        if self._began_s is None:
            self._began_s = state.stamp_s
        self._window.add(state.stamp_s, tuple(state.ee_position))
        if state.stamp_s - self._began_s < self._condition.after_s or not self._window.covered:
            return None
        moved = float(np.linalg.norm(self._window.values - state.ee_position, axis=1).max())
        if not moved < self._condition.distance_m:
            return None
        return f"the hand moved {moved:.4f} m in {self._condition.duration_s:g} s"
