"""A real arm as the control loop moves it: kinematics, safety filter, driver, one action after the other."""

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
from openral_control.safety.joint_limits import ArmLimits, Vector, limits_of
from openral_control.safety.make_filter import make_filter
from openral_control.safety.safety_filter import SafeTarget
from openral_control.safety.slow_start import SlowStart
from openral_core.errors import ManifestError
from openral_core.robot import load_robot
from openral_core.scene import DeployScene
from openral_core.scene_arm import SafetyLimits
from openral_core.types import RobotState
from openral_robot_bridge.driver import ArmAwayError, ArmError, ArmInfo, ArmMode, ArmState, NotLedError
from openral_robot_bridge.mujoco_geometry import MujocoGeometry
from openral_robot_bridge.process import ArmProcess
from openral_robot_bridge.process_main import HostSettings
from openral_robot_bridge.scene_loading import robot_command, twin_hint
from openral_robot_bridge.target_lookahead import Lookahead
from openral_sim_bridge.backend import RobotModel
from openral_sim_bridge.backends.mjcf.control import JOINTS, make_control
from openral_sim_bridge.backends.mjcf.gripper import CLOSED, OPEN, gripper_number
from openral_sim_bridge.backends.mjcf.world import CompiledScene

ELBOW = 3
"""Joint, counted from 0, that is the elbow of an arm of seven."""
GRIP_SPEED_M_S, GRIP_FORCE_N = 0.1, 30.0
GRIP_CHANGE = 0.2
"""Change of the gripper's number from which on the fingers are led anew."""


@dataclass(frozen=True)
class StepReport:
    """What became of one control step."""

    stamp_s: float
    """[s] monotonic."""
    wanted: Vector
    """(n,) [rad] what the action asked for."""
    target: SafeTarget
    state: ArmState
    """Before the step."""
    sent: bool
    """The arm was told; not so in shadow mode, or while it cannot be moved."""


class ArmLink(Protocol):
    """What `RobotArm` leads the arm through; see `ArmProcess`."""

    info: ArmInfo
    limits: ArmLimits

    def read(self) -> ArmState:
        """Return the arm's state."""
        ...

    def lead(self, positions: Vector, velocities: Vector, duration_s: float) -> ArmState:
        """Lead the joints, and return the arm's state."""
        ...

    def go_on(self) -> ArmState:
        """Let the arm go on as it was told ahead, and return its state. Raises NotLedError: it came to rest."""
        ...

    def halt(self) -> None:
        """Bring the arm to rest and end its motion."""
        ...

    def release(self) -> None:
        """Let the arm be led again."""
        ...

    def grip(self, width_m: float, speed_m_s: float, force_n: float) -> ArmState:
        """Lead the fingers."""
        ...

    def recover(self) -> ArmState:
        """Leave a reflex or a fault."""
        ...

    def close(self) -> None:
        """Bring the arm to rest and disconnect."""
        ...


class RobotArm:
    """`openral_control.control_loop.Arm` over a driver. Calls but `halt`, `release` and `beat` come from one thread.

    An action means what it means in simulation: the same control turns it into joints, on the same model.
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
        """Compile the scene's model and connect to its arm; nothing moves.

        Args:
            scene: with a section `arm`, and of family mjcf.
            shadow: do everything, but send nothing to the arm.
            begin_anywhere: the first motion need not begin near the scene's start pose.
            report: gets what became of each step.
            connect: starts what speaks to the arm.
            clock: [s] of the slow start and of signs of life.

        Raises:
            OpenralError: the scene is wrong, or the arm cannot be reached.
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
        """Of robot.yaml."""
        try:
            self.process = connect(HostSettings(scene.arm, self.robot_limits, self.start))
        except ArmAwayError as error:
            raise ArmError(f"{error}{twin_hint(scene.arm, scene)}") from error
        try:
            self._make_safe(scene, scene.arm.safety, begin_anywhere)
        except BaseException:
            self.process.close()
            raise

    def _make_safe(self, scene: DeployScene, safety: SafetyLimits, begin_anywhere: bool) -> None:
        """Put the safety filter between the scene's control and the arm that is connected, and look at the arm."""
        self._margin_rad, self._timeout_s = safety.position_margin_rad, safety.command_timeout_s
        self._hold_to_run = HoldToRun(safety.hold_to_run_s) if safety.hold_to_run else None
        self._slow_start = SlowStart(
            self.start,
            np.inf if begin_anywhere else safety.start_tolerance_rad,
            safety.slow_start_s,
            safety.slow_start_share,
            robot_command("home", scene),
        )
        self.geometry = geometry = MujocoGeometry(self._compiled, ELBOW)
        """Where hand and elbow are for joints; used from the thread that steps the arm."""
        self._filter = make_filter(
            safety,
            self.process.limits,
            geometry,
            scene.workspace,
            scene.dt,
            self._slow_start,
            self._hold_to_run,
        )
        self.control_hz = scene.control_hz
        self.counts: Counter[str] = Counter()
        """How often each check slowed or stopped the arm."""
        self.stopped_by = ""
        """Why the arm does not move now; empty: nothing keeps it from moving."""
        ahead_s = self.process.info.ahead_s
        self._lookahead = Lookahead(self._compiled, round(ahead_s / scene.dt)) if ahead_s else None
        self._coming: Callable[[], NDArray[Any]] | None = None
        self._behind = 0.0
        self._stepped_s = float("-inf")
        self._halted = threading.Event()
        self._gripped: float | None = None
        self._steps = 0
        self.state = self.process.read()
        """The arm at the last step."""
        if len(self.state.positions) != len(self.start):
            raise ManifestError(
                f"{scene.robot_id}: robot.yaml has {len(self.start)} joints of role arm, the arm "
                f"{len(self.state.positions)}; list all of them, from the base to the hand"
            )
        self._begin()

    @property
    def blocked_by(self) -> str:
        """What keeps the arm from being moved at all: emergency stop, reflex, user stop or fault; empty: nothing."""
        return self._blocked(self.state)

    @property
    def refusal(self) -> str:
        """Why the arm may not begin to move from where it is; empty: it may."""
        return self._slow_start.refusal(self.state.positions)

    def robot_state(self) -> RobotState:
        """Return the arm's state as the bridge publishes it; its stamp counts control steps."""
        state, target = (
            self._compiled.robot.state(self._data, self._steps / self.control_hz),
            self._control.hand,
        )
        return replace(state, ee_target=None if target is None else target.copy())

    def describe(self) -> RobotModel:
        """Return the URDF of the scene's robot, and where it stands."""
        robot, base = self._robot, self._compiled.naming.in_model(self._robot.base_frame)
        return self._articulation.describe(self._data, robot.name, base)

    def joint_positions(self) -> Mapping[str, float]:
        """Return the position [rad] or [m] of every joint that the robot's URDF has."""
        return self._articulation.positions(self._data)

    def hold_action(self, last: NDArray[Any] | None) -> NDArray[np.float64]:
        """Return the action (A,) that keeps the arm where it is led, given the last one executed."""
        action = np.zeros(self._scene.action.dim)
        numbers = self._compiled.arm_numbers
        if self._scene.action.representation == JOINTS:
            action[:numbers] = self._control.joints
        if len(action) > numbers:
            action[-1] = OPEN if last is None else float(last[-1])
        return action

    def beat(self) -> None:
        """Note a sign of life of the operator; may be called from any thread."""
        if self._hold_to_run is not None:
            self._hold_to_run.beat(self._clock())

    def set_lookahead(self, coming: Callable[[], NDArray[Any]]) -> None:
        """Take what returns the actions (k, A) that are planned after the one that is executed now.

        An arm whose controller takes trajectories is sent the targets that they lead to; each control step may still
        change them.
        """
        self._coming = coming

    def halt(self) -> None:
        """Bring the arm to rest now, not at the next control step; may be called from any thread."""
        self._halted.set()
        self.process.halt()

    def release(self) -> None:
        """Allow the arm to move again, slowly at first; may be called from any thread."""
        self._slow_start.restart()
        self.process.release()
        self._gripped = None
        self._halted.clear()

    def recover(self) -> None:
        """Leave a reflex or a fault. Raises ArmError: the arm stays in it."""
        self.state = self.process.recover()
        self._begin()

    def take_behind(self) -> float:
        """Return how far [rad] a joint was at most from where it was led, since the last time that this was asked."""
        behind, self._behind = self._behind, 0.0
        return behind

    @property
    def led(self) -> Vector:
        """(n,) [rad] where the joints are led."""
        return self._filter.led

    def step(self, action: NDArray[Any]) -> RobotState:
        """Lead the arm for one control step with `action` (A,), as far as the safety filter lets it.

        Raises:
            ArmError: the arm or its process does not answer.
        """
        self._go_on_after_silence()
        numbers = np.asarray(action, dtype=np.float64)
        count = self._compiled.arm_numbers
        self._control.aim(self._data, numbers[:count])
        if len(numbers) > count:
            self._grip(gripper_number(self._scene.action, float(numbers[-1])))
        return self._move(np.array(self._control.joints), self._coming)

    def step_joints(self, wanted: Vector) -> RobotState:
        """Lead the joints for one control step towards `wanted` (n,) [rad], as far as the safety filter lets them.

        Raises:
            ArmError: the arm or its process does not answer.
        """
        self._go_on_after_silence()
        return self._move(wanted, None)

    def _move(self, wanted: Vector, coming: Callable[[], NDArray[Any]] | None) -> RobotState:
        state, now = self.state, self._clock()
        self._stepped_s = now
        blocked = self._blocked(state)
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
            self.state = self.process.read()  # an arm that ended its motion says so in its state
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
        """Return no images: cameras are not the arm's."""
        return {}

    def close(self) -> None:
        """Bring the arm to rest and disconnect."""
        self.process.close()

    def _lead(self, target: SafeTarget, coming: Callable[[], NDArray[Any]] | None, now_s: float) -> ArmState:
        """Tell the arm its next target, or what follows from there as well, unless it knows already."""
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
        """Return what keeps the arm from being moved at all; empty: nothing."""
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
        """Lead the fingers where the action's number is another than the last one they were led by."""
        changed = self._gripped is None or abs(number - self._gripped) >= GRIP_CHANGE
        if self._shadow or not changed or self._blocked(self.state) or self._hold_to_run_is_open():
            return
        self._gripped = number
        share = (number - CLOSED) / (OPEN - CLOSED)
        with contextlib.suppress(ArmError):  # what is wrong with the arm, its next state says
            self.process.grip(share * self.process.info.max_width_m, GRIP_SPEED_M_S, GRIP_FORCE_N)

    def _hold_to_run_is_open(self) -> bool:
        return self._hold_to_run is not None and not self._hold_to_run.is_held(self._clock())

    def _mirror(self) -> None:
        """Bring the model to where the arm is."""
        gripper = self._compiled.robot.gripper
        self._data.qpos[self._compiled.robot.chain.qpos] = self.state.positions
        if gripper is not None:
            share = self.state.width_m / (self.process.info.max_width_m or gripper.max_opening_m)
            self._data.qpos[gripper.qpos] = gripper.closed + share * (gripper.open - gripper.closed)
        mujoco.mj_kinematics(self._model, self._data)

    def _begin(self) -> None:
        """Let the next motion begin where the arm is, slowly."""
        self._gripped = None
        self._narrow()
        self._restart()
        self._slow_start.restart()

    def _go_on_after_silence(self) -> None:
        """Let the motion go on from where the arm is, if its driver's process led it to rest: nobody led it in time."""
        if not self._shadow and self._clock() - self._stepped_s > self._timeout_s:
            self.state = self.process.read()
            self._restart()

    def _restart(self) -> None:
        """Let the motion go on from where the arm is, and as it moves there."""
        self._mirror()
        if self._lookahead is not None:
            self._lookahead.forget()
        self._control.restart(self._data)
        self._filter.restart(self.state.positions, self.state.velocities)

    def _narrow(self) -> None:
        """Let the kinematics ask for no joint beyond its margin, but where it is there already.

        The filter would hold the whole arm back for that joint, where the others could take over.
        """
        chain, limits, here = self._compiled.robot.chain, self.process.limits, self.state.positions
        margin = self._margin_rad
        chain.low = np.minimum(limits.low + margin, here)
        chain.high = np.maximum(limits.high - margin, here)
