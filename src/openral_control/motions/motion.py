"""Motions as sequences of phases, each of which maps states to actions until it ends."""

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
    """Result of a motion or of a phase."""

    succeeded: bool
    message: str
    """What was reached or why it failed, with numbers."""


class Phase(Protocol):
    """A part of a motion."""

    @property
    def target(self) -> Vector | None:
        """(3,) [m] position to which the hand moves in a straight line; None: it does not move."""
        ...

    def begin(self, state: RobotState, set_point: Vector | None) -> None:
        """Begin in a state, with the controller's set point (3,) [m]; None: it is at the hand."""
        ...

    def set_point(self, state: RobotState) -> Vector | None:
        """Return the controller's set point (3,) [m] in a state; None: unknown."""
        ...

    def look(self, state: RobotState) -> MotionEnd | None:
        """Return the result in a new state; None: the phase has not ended."""
        ...

    def chunk(self, state: RobotState) -> NDArray[np.float32]:
        """Return the next actions (H, A)."""
        ...


MakePhases = Callable[[RobotState], Sequence[Phase]]
"""Returns the phases of a motion that begins in a state; raises MotionRefused if it is impossible."""


class Motion:
    """A motion that returns actions, or its end, for each new `RobotState`. Not thread-safe."""

    def __init__(self, name: str, arm: MotionArm, targets: Sequence[Vector], make_phases: MakePhases) -> None:
        """Create a motion that has not begun.

        Args:
            name: such as move_to.
            arm: the arm.
            targets: points (3,) [m] of its parameters, inside the workspace.
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
        """Plan the phases from a state. `advance` calls it if it was not called before.

        Raises:
            MotionRefused: a target that depends on where the hand is lies outside the workspace.
        """
        self._phases, self._begun = list(self._make_phases(state)), True
        if self._phases:
            self._phases[0].begin(state, None)

    @property
    def has_begun(self) -> bool:
        """Whether the phases were planned from a state."""
        return self._begun

    @property
    def path(self) -> tuple[Vector, ...]:
        """Ends (3,) [m] of the straight lines that remain; empty before the motion has begun."""
        return tuple(phase.target for phase in self._phases if phase.target is not None)

    def advance(self, state: RobotState) -> NDArray[np.float32] | MotionEnd:
        """Return the next actions (H, A) for a state, or the result of the motion.

        It may be called again with the same state.

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
