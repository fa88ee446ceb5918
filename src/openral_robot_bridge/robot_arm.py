"""A real arm for the control loop: turns each action into joint targets, filters them, and sends them to the driver."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import mujoco
import numpy as np
from numpy.typing import NDArray

from openral_control.safety.hold_to_run import HoldToRun
from openral_control.safety.joint_limits import ArmLimits, Vector, limits_of, position_margins
from openral_control.safety.make_filter import make_filter
from openral_control.safety.safety_filter import SafeTarget
from openral_control.safety.slow_start import SlowStart
from openral_core.errors import ManifestError
from openral_core.hardware.arm_mode import ArmMode, takes_commands
from openral_core.robot import load_robot
from openral_core.scene import DeployScene
from openral_core.scene_arm import SafetyLimits
from openral_core.types import RobotState
from openral_robot_bridge.driver import ArmAwayError, ArmError, ArmInfo, ArmState, NotLedError
from openral_robot_bridge.drivers.arm_lock import ArmLock
from openral_robot_bridge.mujoco_geometry import MujocoGeometry
from openral_robot_bridge.process import ArmProcess
from openral_robot_bridge.process_main import HostSettings
from openral_robot_bridge.scene_loading import robot_command, twin_hint
from openral_robot_bridge.target_lookahead import Lookahead
from openral_sim_bridge.backend import RobotModel
from openral_sim_bridge.backends.mjcf.control import JOINTS, make_control
from openral_sim_bridge.backends.mjcf.gripper import CLOSED, OPEN, gripper_number
from openral_sim_bridge.backends.mjcf.world import CompiledScene

ELBOW, ELBOW_OF_SEVEN = 2, 3
"""Index, from 0, of the elbow joint, and of that of an arm with seven joints, whose upper arm turns."""
GRIP_SPEED_M_S, GRIP_FORCE_N = 0.1, 30.0
"""[m/s] speed and [N] force of all gripper commands."""
GRIP_CHANGE = 0.2
"""Least change of the action's gripper number for which the gripper is commanded again."""


@dataclass(frozen=True)
class StepReport:
    """Record of one control step."""

    stamp_s: float
    """[s] monotonic time of the step."""
    wanted: Vector
    """(n,) [rad] joint positions that the action asked for."""
    target: SafeTarget
    """Target after the safety filter."""
    state: ArmState
    """State of the arm before the step."""
    sent: bool
    """Whether the target was sent to the arm; it is not in shadow mode, or while the arm cannot be moved."""


class ArmLink(Protocol):
    """Connection through which `RobotArm` commands the arm; see `ArmProcess`."""

    info: ArmInfo
    limits: ArmLimits

    def read(self) -> ArmState:
        """Return the arm's state."""
        ...

    def lead(self, positions: Vector, velocities: Vector, duration_s: float) -> ArmState:
        """Command joint targets, and return the arm's state."""
        ...

    def go_on(self) -> ArmState:
        """Confirm the targets sent ahead, and return the arm's state.

        Raises:
            NotLedError: the arm came to rest.
        """
        ...

    def halt(self) -> None:
        """Bring the arm to rest and end its motion."""
        ...

    def release(self) -> None:
        """Accept motion commands again after `halt`."""
        ...

    def grip(self, width_m: float, speed_m_s: float, force_n: float) -> ArmState:
        """Command the gripper, and return the arm's state."""
        ...

    def recover(self) -> ArmState:
        """Recover from a reflex or a fault, and return the arm's state."""
        ...

    def close(self) -> None:
        """Bring the arm to rest and disconnect."""
        ...


class RobotArm:
    """`openral_control.control_loop.Arm` over a driver, for one thread; `halt`, `release`, `beat` are for any thread.

    An action has the same meaning as in simulation, as the same control on the same model turns it into joint targets.
    """

    def __init__(
        self,
        scene: DeployScene,
        *,
        shadow: bool = False,
        begin_anywhere: bool = False,
        report: Callable[[StepReport], None] | None = None,
        connect: Callable[[HostSettings], ArmLink] = ArmProcess,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Compile the scene's model and connect to its arm without moving it.

        Args:
            scene: with a section `arm`, and of family mjcf.
            shadow: compute all commands, but send none to the arm.
            begin_anywhere: the first motion need not begin near the scene's start pose.
            report: is called with the record of each control step.
            connect: opens the connection to the arm.
            clock: returns the time [s] of control steps, of the slow start and of hold-to-run.

        Raises:
            OpenralError: the scene is invalid, the arm cannot be reached, or another program moves it.
        """
        if scene.arm is None:
            raise ManifestError(
                f"scene {scene.scene.id}: arm is missing; say which driver speaks to it, and its address"
            )
        if scene.arm.safety.command_timeout_s < 1.5 * scene.dt:
            raise ManifestError(
                f"scene {scene.scene.id}: arm.safety.command_timeout_s is {scene.arm.safety.command_timeout_s:g} s, "
                f"too short for {scene.control_hz:g} Hz; write at least {1.5 * scene.dt:g}"
            )
        self._scene, self._shadow, self._report, self._clock = scene, shadow, report, clock
        robot = self._robot = load_robot(scene.robot_id)
        self._compiled = CompiledScene(scene, robot)
        self._articulation = self._compiled.articulation(robot)
        self._model, self._data = self._compiled.model, mujoco.MjData(self._compiled.model)
        self._control = make_control(scene.action, self._compiled.robot, scene.dt)
        self._compiled.states.put(self._data, self._compiled.options.tasks[0], scene.init_id)
        self.start = np.array(self._data.qpos[self._compiled.robot.chain.qpos])
        """(n,) [rad] the scene's start pose."""
        self.robot_limits = limits_of(robot)
        """Joint limits of robot.yaml."""
        with contextlib.ExitStack() as held:
            if not shadow:
                held.callback(ArmLock(scene.arm).close)
            try:
                self.process = connect(HostSettings(scene.arm, self.robot_limits, self.start))
            except ArmAwayError as error:
                raise ArmError(f"{error}{twin_hint(scene.arm, scene)}") from error
            held.callback(self.process.close)
            self._make_safe(scene, scene.arm.safety, begin_anywhere)
            self._held = held.pop_all()

    def _make_safe(self, scene: DeployScene, safety: SafetyLimits, begin_anywhere: bool) -> None:
        """Build the safety filter between the scene's control and the connected arm, and read the arm's state."""
        self.margin = position_margins(self._robot, safety.position_margin_rad)
        """(n,) [rad or m] margins that joints keep from the ends of their ranges."""
        self._timeout_s = safety.command_timeout_s
        self._hold_to_run = HoldToRun(safety.hold_to_run_s) if safety.hold_to_run else None
        self._slow_start = SlowStart(
            self.start,
            np.inf if begin_anywhere else safety.start_tolerance_rad,
            safety.slow_start_s,
            safety.slow_start_share,
            self.process.limits.velocity,
            robot_command("home", scene),
        )
        count = len(self.start)
        elbow = ELBOW_OF_SEVEN if count == 7 else min(ELBOW, count - 1)
        self.geometry = geometry = MujocoGeometry(self._compiled, elbow)
        """Positions of hand and elbow, distances and Jacobians; used from the thread that steps the arm."""
        self._filter = make_filter(
            safety,
            self.process.limits,
            geometry,
            scene.workspace,
            scene.dt,
            self._slow_start,
            self._hold_to_run,
            self.margin,
        )
        self.control_hz = scene.control_hz
        self.counts: Counter[str] = Counter()
        """Number of control steps in which each check slowed or stopped the arm, by its name."""
        self.stopped_by = ""
        """Reason why the arm does not move now; empty: there is none."""
        ahead_s = self.process.info.ahead_s
        self._lookahead = Lookahead(self._compiled, round(ahead_s / scene.dt)) if ahead_s else None
        self._coming: Callable[[], NDArray[Any]] | None = None
        self._on_refusal: Callable[[], object] = lambda: None
        self._behind = 0.0
        self._stepped_s = float("-inf")
        self._halted = threading.Event()
        self._gripped: float | None = None
        self._grip_command: float | None = None
        """The gripper's last command (OPEN to CLOSED); None: there was none, so it is as it was found."""
        self._untouched: float | None = None
        """Number of the newest hold before the first command of the gripper, which `step` does not send."""
        self._steps = 0
        self.state = self.process.read()
        """State of the arm after the last step."""
        if len(self.state.positions) != len(self.start):
            raise ManifestError(
                f"{scene.robot_id}: robot.yaml has {len(self.start)} joints of role arm, the arm "
                f"{len(self.state.positions)}; list all of them, from the base to the hand"
            )
        self._begin()

    @property
    def blocked_by(self) -> str:
        """Condition in which no command is sent: emergency stop, reflex, user stop, fault or guiding; empty: none."""
        return self._blocked(self.state)

    @property
    def refusal(self) -> str:
        """Reason why the arm may not begin to move from its present posture; empty: it may."""
        return self._slow_start.refusal(self.state.positions)

    def robot_state(self) -> RobotState:
        """Return the arm's state as the bridge publishes it; its stamp [s] is the number of steps over `control_hz`."""
        state, target = (
            self._compiled.robot.state(self._data, self._steps / self.control_hz),
            self._control.hand,
        )
        return replace(state, ee_target=None if target is None else target.copy())

    def describe(self) -> RobotModel:
        """Return the URDF of the scene's robot, and the pose of its base."""
        robot, base = self._robot, self._compiled.naming.in_model(self._robot.base_frame)
        return self._articulation.describe(self._data, robot.name, base)

    def joint_positions(self) -> Mapping[str, float]:
        """Return the position [rad] or [m] of every joint that the robot's URDF has."""
        return self._articulation.positions(self._data)

    def hold_action(self, last: NDArray[Any] | None) -> NDArray[np.float64]:
        """Return the action (A,) that holds the commanded posture and the gripper of the last executed action.

        Without one, as after `recover`, it holds the gripper's last command, since the fingers may hold an object.
        Before the first command it has their measured opening, and `step` leaves them alone.
        """
        action = np.zeros(self._scene.action.dim)
        numbers = self._compiled.arm_numbers
        if self._scene.action.representation == JOINTS:
            action[:numbers] = self._control.joints
        if len(action) > numbers:
            action[-1] = self._held_grip() if last is None else float(last[-1])
        return action

    def _held_grip(self) -> float:
        """Return the gripper's number before any action was executed: its last command, else its measured opening."""
        if self._grip_command is not None:
            return self._grip_command
        share = self.state.width_m / (self.process.info.max_width_m or 1.0)
        self._untouched = CLOSED + min(share, 1.0) * (OPEN - CLOSED)
        return self._untouched

    def beat(self) -> None:
        """Record that the operator holds the hold-to-run device; may be called from any thread."""
        if self._hold_to_run is not None:
            self._hold_to_run.beat(self._clock())

    def set_lookahead(self, coming: Callable[[], NDArray[Any]]) -> None:
        """Set the function that returns the actions (k, A) planned after the one that is executed now.

        An arm whose controller takes trajectories is sent the targets of these actions ahead of time; each control step
        may still replace them.
        """
        self._coming = coming

    def set_on_refusal(self, on_refusal: Callable[[], object]) -> None:
        """Set the function that is called in each step in which the arm is in a mode where it takes no commands."""
        self._on_refusal = on_refusal

    def halt(self) -> None:
        """Bring the arm to rest immediately, not at the next control step; may be called from any thread."""
        self._halted.set()
        self.process.halt()

    def release(self) -> None:
        """Allow the arm to move again, slowly at first; may be called from any thread."""
        self._slow_start.restart()
        self.process.release()
        self._gripped = None
        self._halted.clear()

    def recover(self) -> None:
        """Recover the arm from a reflex or a fault.

        Raises:
            ArmError: the arm does not recover.
        """
        self.state = self.process.recover()
        self._begin()

    def take_behind(self) -> float:
        """Return the largest tracking error [rad] of a joint since the last call."""
        behind, self._behind = self._behind, 0.0
        return behind

    @property
    def led(self) -> Vector:
        """(n,) [rad] last commanded joint positions."""
        return self._filter.led

    def step(self, action: NDArray[Any]) -> RobotState:
        """Execute `action` (A,) for one control step, as far as the safety filter allows.

        Raises:
            ArmError: the arm or its process does not answer.
        """
        self._go_on_after_silence()
        numbers = np.asarray(action, dtype=np.float64)
        count = self._compiled.arm_numbers
        self._control.aim(self._data, numbers[:count])
        if len(numbers) > count and (self._grip_command is not None or numbers[-1] != self._untouched):
            self._grip(gripper_number(self._scene.action, float(numbers[-1])))
        return self._move(np.array(self._control.joints), self._coming)

    def step_joints(self, wanted: Vector) -> RobotState:
        """Move the joints towards `wanted` (n,) [rad] for one control step, as far as the safety filter allows.

        Raises:
            ArmError: the arm or its process does not answer.
        """
        self._go_on_after_silence()
        return self._move(wanted, None)

    def _move(self, wanted: Vector, coming: Callable[[], NDArray[Any]] | None) -> RobotState:
        state, now = self.state, self._clock()
        self._stepped_s = now
        blocked = self._blocked(state)
        if not takes_commands(blocked):
            self._on_refusal()
        if blocked:
            target = SafeTarget(self._filter.led, np.zeros_like(wanted), (), blocked)
        else:
            here = self._filter.led if self._shadow else state.positions
            target = self._filter.next(wanted, here, state.external_torques, now)
        goes_on = not blocked and self._control.go_on_from(self._data, target.positions, target.velocities)
        if goes_on:
            self._filter.drop_lag()
        sent = not self._shadow and not blocked
        self._note(target)
        if self._report is not None:
            self._report(StepReport(now, wanted, target, state, sent))
        try:
            self.state = self._lead(target, coming, now) if sent else self.process.read()
        except ArmError:
            self.state = self.process.read()  # the state of an arm that ended its motion has the reason
        self._mirror()
        if sent:
            self._behind = max(self._behind, float(np.abs(self.state.positions - target.positions).max()))
        if target.stopped_by and not goes_on:
            self._control.restart(self._data)
        if blocked:
            self._filter.restart(self.state.positions)
            if self._lookahead is not None:
                self._lookahead.forget()
        self._steps += 1
        return self.robot_state()

    def images(self, cameras: Sequence[str]) -> Mapping[str, NDArray[np.uint8]]:
        """Return no images, as cameras of a real arm are read elsewhere."""
        return {}

    def close(self) -> None:
        """Bring the arm to rest and disconnect."""
        self._held.close()

    def _lead(self, target: SafeTarget, coming: Callable[[], NDArray[Any]] | None, now_s: float) -> ArmState:
        """Send the next target, and those that follow it to an arm that takes trajectories and lacks them."""
        dt = self._scene.dt
        if self._lookahead is None:
            return self.process.lead(target.positions, target.velocities, dt)
        actions = np.empty((0, 0)) if coming is None else coming()
        if self._lookahead.goes_on(target, actions):
            with contextlib.suppress(NotLedError):
                return self.process.go_on()
        ahead = self._lookahead.targets(target, actions, self._control, self._filter, self.state, now_s)
        return self.process.lead(*ahead, dt)

    def _blocked(self, state: ArmState) -> str:
        """Return the condition in which no command is sent; empty: there is none."""
        if self._halted.is_set():
            return "emergency stop"
        if state.mode in (ArmMode.IDLE, ArmMode.MOVING):
            return ""
        return ": ".join([state.mode.value, *state.faults])

    def _note(self, target: SafeTarget) -> None:
        self.stopped_by = target.stopped_by
        names = {*target.slowed_by, *([target.stopped_by] if target.stopped_by else [])}
        self.counts.update(names)

    def _grip(self, number: float) -> None:
        """Command the gripper if the action's gripper number differs from the last commanded one by GRIP_CHANGE."""
        changed = self._gripped is None or abs(number - self._gripped) >= GRIP_CHANGE
        if self._shadow or not changed or self._blocked(self.state) or self._hold_to_run_is_open():
            return
        self._gripped = self._grip_command = number
        share = (number - CLOSED) / (OPEN - CLOSED)
        with contextlib.suppress(ArmError):  # the arm's next state has the fault
            self.process.grip(share * self.process.info.max_width_m, GRIP_SPEED_M_S, GRIP_FORCE_N)

    def _hold_to_run_is_open(self) -> bool:
        return self._hold_to_run is not None and not self._hold_to_run.is_held(self._clock())

    def _mirror(self) -> None:
        """Set the joints of the model to the measured ones."""
        gripper = self._compiled.robot.gripper
        self._data.qpos[self._compiled.robot.chain.qpos] = self.state.positions
        if gripper is not None:
            share = self.state.width_m / (self.process.info.max_width_m or gripper.max_opening_m)
            self._data.qpos[gripper.qpos] = gripper.closed + share * (gripper.open - gripper.closed)
        mujoco.mj_kinematics(self._model, self._data)

    def _begin(self) -> None:
        """Begin the next motion at the measured posture, slowly."""
        self._gripped = None
        self._narrow()
        self._restart()
        self._slow_start.restart()

    def _go_on_after_silence(self) -> None:
        """Restart from the measured posture if no step came within the timeout, so that the process stopped the arm."""
        if not self._shadow and self._clock() - self._stepped_s > self._timeout_s:
            self.state = self.process.read()
            self._restart()

    def _restart(self) -> None:
        """Restart control and safety filter from the measured positions and velocities."""
        self._mirror()
        if self._lookahead is not None:
            self._lookahead.forget()
        self._control.restart(self._data)
        self._filter.restart(self.state.positions, self.state.velocities)

    def _narrow(self) -> None:
        """Restrict the joint ranges of the inverse kinematics by the margin, or to the present position if beyond it.

        Otherwise the filter would slow the whole arm for a joint at its margin, where other joints could move instead.
        """
        chain, limits, here = self._compiled.robot.chain, self.process.limits, self.state.positions
        chain.low = np.minimum(limits.low + self.margin, here)
        chain.high = np.maximum(limits.high - self.margin, here)
