"""A motion: phases one after the other, each fed with the newest state until it has ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from openral_control.motions.arm import MotionArm
from openral_core.types import RobotState

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class MotionEnd:
    """How a motion, or a phase of it, ended."""

    succeeded: bool
    message: str
    """What was reached, or what is in the way, with the numbers."""


class Phase(Protocol):
    """A part of a motion."""

    @property
    def target(self) -> Vector | None:
        """(3,) [m] where the hand goes in a straight line; None: it stays."""
        ...

    def begin(self, state: RobotState, set_point: Vector | None) -> None:
        """Take the state in which it begins, and where the set point (3,) [m] was led; None: it is at the hand."""
        ...

    def set_point(self, state: RobotState) -> Vector | None:
        """Return where it has led the controller's set point (3,) [m] by a state; None: nobody counted."""
        ...

    def look(self, state: RobotState) -> MotionEnd | None:
        """Return how it has ended, or None while it goes on."""
        ...

    def chunk(self, state: RobotState) -> NDArray[np.float32]:
        """Return the next actions (H, A)."""
        ...


MakePhases = Callable[[RobotState], Sequence[Phase]]
"""Phases of a motion that begins in a state; MotionRefused where they cannot be."""


class Motion:
    """Feed it with each new `RobotState`; it answers with actions, or with its end. Not thread-safe."""

    def __init__(self, name: str, arm: MotionArm, targets: Sequence[Vector], make_phases: MakePhases) -> None:
        """Make a motion that has not begun.

        Args:
            name: such as move_to.
            arm: the arm.
            targets: the points (3,) [m] of its parameters, checked already.
            make_phases: returns its phases.
        """
        self.name, self.arm, self.targets = name, arm, tuple(targets)
        self._make_phases = make_phases
        self._phases: list[Phase] = []
        self._end: MotionEnd | None = None
        self._begun = False
        self._last_s = -np.inf
        self._message = ""

    def begin(self, state: RobotState) -> None:
        """Plan the phases from a state; `advance` does it where nobody has.

        Raises:
            MotionRefused: a target that depends on where the hand is lies outside the workspace.
        """
        self._phases, self._begun = list(self._make_phases(state)), True
        if self._phases:
            self._phases[0].begin(state, None)

    @property
    def path(self) -> tuple[Vector, ...]:
        """Ends (3,) [m] of the straight lines that are still before the hand; empty before it has begun."""
        return tuple(phase.target for phase in self._phases if phase.target is not None)

    def advance(self, state: RobotState) -> NDArray[np.float32] | MotionEnd:
        """Return the actions (H, A) that answer a state, or how the motion has ended.

        A state that is not newer than the last one is answered again.

        Args:
            state: the robot's newest state.

        Raises:
            MotionRefused: see `begin`.
        """
        if not self._begun:
            self.begin(state)
        while self._end is None and self._phases:
            end = self._phases[0].look(state)
            if end is None:
                return self._phases[0].chunk(state)
            if not end.succeeded:
                self._end = end
                break
            self._message = end.message
            ended = self._phases.pop(0)
            if self._phases:
                self._phases[0].begin(state, ended.set_point(state))
        if self._end is None:
            self._end = MotionEnd(True, self._message)
        return self._end
