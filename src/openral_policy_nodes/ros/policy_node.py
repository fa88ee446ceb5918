"""The lifecycle node that hosts one skill and offers it as the action `/openral/skills/<slug>/execute`."""

from __future__ import annotations

import json
import sys
from array import array
from dataclasses import dataclass

import rclpy
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point
from openral.msg import ActionChunk, SkillInfo
from openral.msg import StartPose as StartPoseMessage
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.executors import ExternalShutdownException
from rclpy.lifecycle import State, TransitionCallbackReturn

from openral_core.adapters.observation_adapter import cameras_for
from openral_core.errors import ContractError, OpenralError
from openral_core.guarded import EXIT_UNFIT
from openral_core.manifest import StartPose
from openral_core.robot import load_robot
from openral_core.scene import DeployScene, load_scene
from openral_policy_nodes.families.factory import load_policy
from openral_policy_nodes.inference import Inference, PolicyChunk
from openral_policy_nodes.ros.execute_action import ExecuteActionHost, ExecuteServer
from openral_policy_nodes.ros.sensors import LATCHED_QOS, STATE_QOS, SensorIntake
from openral_policy_nodes.runner import PolicyRunner
from openral_policy_nodes.state_assembler import StateAssembler
from openral_policy_nodes.stopping import Stopping
from openral_policy_nodes.supervisor import Limits
from openral_policy_nodes.warm_up import blank_sensors
from openral_rskill.contract import match, require
from openral_rskill.registry import RSkillPackage, resolve

HEARTBEAT_S = 1.0
"""[s] wall time between two announcements of an active node; without them the bridge takes no chunk of it."""
WARM_UPS = 2
"""Inferences at start: the first pays for allocation, the second shows the latency to expect."""


@dataclass(frozen=True)
class HostedSkill:
    """The skill that a node hosts, or is about to."""

    package: RSkillPackage
    scene: DeployScene
    assembler: StateAssembler

    @property
    def action(self) -> str:
        """Full name of the skill's action."""
        return f"/openral/skills/{self.package.slug}/execute"


class PolicyNode(ExecuteActionHost):
    """Parameters: `skill` (reference), `scene`, `device`, `lockstep` (the world waits for the policy),
    `allow_unevaluated`, `autostart`, `default_deadline_s`, `inference_timeout_s`."""

    def __init__(self) -> None:
        super().__init__("policy", namespace="/openral/policy")
        self.declare_parameter("skill", "")
        self.declare_parameter("scene", "")
        self.declare_parameter("device", "cpu")
        self.declare_parameter("lockstep", False)
        self.declare_parameter("allow_unevaluated", False)
        self.declare_parameter("run_dir", "")
        self.declare_parameter("autostart", True)
        self.declare_parameter("default_deadline_s", 45.0)
        self.declare_parameter("inference_timeout_s", Limits.inference_wall_s)
        self._chunks = self.create_publisher(ActionChunk, "/openral/action_chunk", STATE_QOS)
        self._skills = self.create_publisher(SkillInfo, "/openral/skills", LATCHED_QOS)
        self._hosted: HostedSkill | None = None
        self._inference: Inference | None = None
        self._runner: PolicyRunner | None = None
        self._server: ExecuteServer | None = None
        self._intake: SensorIntake | None = None
        self._state = "unconfigured"
        """Lifecycle state as it was announced last."""
        self.create_timer(HEARTBEAT_S, self._repeat, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def on_configure(self, state: State) -> TransitionCallbackReturn:
        """Check the skill against robot and scene, say that it is coming, then load and warm up its policy."""
        try:
            hosted = self._hosted = self._admit()
            self._announce(
                "inactive"
            )  # loading may take minutes; who waits for the skill shall know that it comes
            self._serve(hosted, self._load(hosted))
        except OpenralError as error:
            for line in str(error).splitlines():  # a record each: readers of a log keep to single lines
                self.get_logger().error(f"skill {self._text('skill')!r} cannot run: {line}")
            self._announce("unconfigured")
            self._release()
            return TransitionCallbackReturn.FAILURE
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: State) -> TransitionCallbackReturn:
        """Listen to the robot and take goals."""
        hosted, server = self._hosted, self._server
        if hosted is None or server is None:
            return TransitionCallbackReturn.FAILURE
        cameras = cameras_for(hosted.package.manifest, hosted.scene)
        self._intake = SensorIntake(self, cameras, hosted.assembler, server.on_sensors)
        server.intake = self._intake
        self._announce("active")
        return super().on_activate(state)

    def on_deactivate(self, state: State) -> TransitionCallbackReturn:
        """Take no more goals; a running one fails."""
        self._stop_listening("the node was deactivated")
        self._announce("inactive")
        return super().on_deactivate(state)

    def on_cleanup(self, state: State) -> TransitionCallbackReturn:
        """Forget the skill."""
        self._announce("unconfigured")
        self._release()
        return TransitionCallbackReturn.SUCCESS

    def on_shutdown(self, state: State) -> TransitionCallbackReturn:
        """Forget the skill for good."""
        self.close()
        return TransitionCallbackReturn.SUCCESS

    def close(self) -> None:
        """End what runs and say so on `/openral/skills`."""
        self._announce("finalized")
        self._release()

    def _text(self, name: str) -> str:
        return str(self.get_parameter(name).value)

    def _admit(self) -> HostedSkill:
        """Return the skill, or raise before anything of it is loaded."""
        package, scene = resolve(self._text("skill")), load_scene(self._text("scene"))
        manifest, robot = package.manifest, load_robot(scene.robot_id)
        if manifest.kind != "vla":
            raise ContractError(f"{manifest.name} is of kind {manifest.kind}; a policy node hosts kind vla")
        # The rows hold the licence, too; all of them are checked before a weight is read.
        lockstep, allow = (bool(self.get_parameter(n).value) for n in ("lockstep", "allow_unevaluated"))
        require(
            match(manifest, robot, scene, folder=package.folder, lockstep=lockstep, allow_unevaluated=allow)
        )
        if robot.gripper_joint is None:
            raise ContractError(
                f"robot {robot.name} has no joint of role gripper; add one to its description"
            )
        return HostedSkill(package, scene, StateAssembler(robot.joint_names, robot.gripper_joint.name))

    def _load(self, hosted: HostedSkill) -> Inference:
        """Load the weights, or start the server that holds them, and warm up."""
        manifest, scene = hosted.package.manifest, hosted.scene
        inference = self._inference = Inference(
            manifest, scene, load_policy(hosted.package, self._text("device"))
        )
        words = manifest.examples[0].phrases[0] if manifest.examples else manifest.description
        blank = blank_sensors(manifest, scene)
        latency_s = [inference.warm_up(blank, words) for _ in range(WARM_UPS)][-1]
        self.get_logger().info(
            f"{manifest.name} {manifest.version} is loaded, {1e3 * latency_s:.1f} ms an inference"
        )
        return inference

    def _serve(self, hosted: HostedSkill, inference: Inference) -> None:
        manifest, scene = hosted.package.manifest, hosted.scene
        dt_ns = round(1e9 * scene.dt)

        def publish(chunk: PolicyChunk) -> None:
            self._chunks.publish(chunk_message(chunk, manifest.name, scene))

        self._runner = PolicyRunner(inference, publish, manifest.replay_steps * dt_ns, dt_ns // 2)
        limits = Limits(
            frame_period_s=1.0 / min(camera.rate_hz for camera in scene.cameras),
            inference_wall_s=float(self.get_parameter("inference_timeout_s").value),
        )

        def hold(goal_id: str) -> None:
            self._chunks.publish(ActionChunk(goal_id=goal_id, skill=manifest.name))

        self._server = ExecuteServer(
            self,
            manifest,
            hosted.action,
            self._runner,
            limits,
            Stopping(scene, load_robot(scene.robot_id)),
            scene.dt,
            hold,
            lambda: self._announce(self._state),
        )

    def _stop_listening(self, why: str) -> None:
        if self._server is not None:
            self._server.abandon("node_state", why)
            self._server.intake = None
        if self._intake is not None:
            self._intake.close()
            self._intake = None

    def _release(self) -> None:
        self._stop_listening("the node was shut down")
        if self._server is not None:
            self._server.close()
        if self._runner is not None and not self._runner.close():
            self.get_logger().warning("the policy still hangs; its thread ends with the process")
        if self._inference is not None:
            self._inference.close()
        self._hosted = self._inference = self._runner = self._server = None

    def _repeat(self) -> None:
        if self._state == "active":
            self._announce("active")

    def _announce(self, state: str) -> None:
        """Latch what this node can do, in which lifecycle state it is, and which goal it runs."""
        self._state = state
        if self._hosted is None or not self.context.ok():
            return
        goal_id = self._server.goal_id if self._server is not None else ""
        message = skill_message(self._hosted, self.get_fully_qualified_name(), state, goal_id)
        message.header.stamp = self.get_clock().now().to_msg()
        self._skills.publish(message)


def chunk_message(chunk: PolicyChunk, skill: str, scene: DeployScene) -> ActionChunk:
    """Return the message of a chunk; values that are not finite go out as they are."""
    horizon, dim = chunk.data.shape
    sec, nanosec = divmod(chunk.stamp_ns, 1_000_000_000)
    message = ActionChunk(
        goal_id=chunk.goal_id,
        skill=skill,
        instruction=chunk.instruction,
        representation=scene.action.representation,
        sequence=chunk.sequence,
        horizon=horizon,
        dim=dim,
        dt=scene.dt,
        data=array("f", chunk.data.tobytes()),
        latency_s=chunk.latency_s,
    )
    message.header.stamp = Time(sec=sec, nanosec=nanosec)
    message.header.frame_id = chunk.frame_id
    return message


def skill_message(hosted: HostedSkill, node: str, state: str, goal_id: str = "") -> SkillInfo:
    """Return what a node says of its skill.

    Args:
        hosted: the skill.
        node: full name of the node.
        state: its lifecycle state.
        goal_id: hex UUID of the goal that it runs; empty: none.
    """
    manifest = hosted.package.manifest
    return SkillInfo(
        name=manifest.name,
        slug=hosted.package.slug,
        version=manifest.version,
        kind=manifest.kind,
        description=manifest.description,
        license=manifest.license,
        commercial_use=manifest.is_commercial_use_allowed,
        embodiment_tags=list(manifest.embodiment_tags),
        actions=list(manifest.actions),
        objects=list(manifest.objects),
        scenes=list(manifest.scenes),
        tasks=[example.task for example in manifest.examples],
        examples=["|".join(example.phrases) for example in manifest.examples],
        node=node,
        action_server=hosted.action,
        state=state,
        active=state == "active",
        control_hz=hosted.scene.control_hz,
        latency_budget_s=manifest.latency_budget.per_chunk_ms * 1e-3,
        max_execution_s=manifest.latency_budget.max_execution_s or 0.0,
        horizon_s=manifest.chunk_size * hosted.scene.dt,
        goal_id=goal_id,
        start_poses=[start_pose_message(start) for start in manifest.start_poses],
        leaves=manifest.leaves,
        goal_params_schema=json.dumps(manifest.goal_params_schema) if manifest.goal_params_schema else "",
    )


def start_pose_message(start: StartPose) -> StartPoseMessage:
    """Return what a manifest says about where a skill begins."""
    x, y, z = start.position
    return StartPoseMessage(
        task=start.task or "",
        position=Point(x=x, y=y, z=z),
        tolerance_m=start.tolerance_m,
        gripper_m=-1.0 if start.gripper_m is None else start.gripper_m,
    )


def main(args: list[str] | None = None) -> int:
    """Run the node until it is told to stop; EXIT_UNFIT when `autostart` found the skill unfit, 1 after a bug."""
    rclpy.init(args=args)
    node = PolicyNode()
    try:
        if node.get_parameter("autostart").value:
            for transition in (node.trigger_configure, node.trigger_activate):
                ended = transition()
                if ended != TransitionCallbackReturn.SUCCESS:
                    return EXIT_UNFIT if ended == TransitionCallbackReturn.FAILURE else 1
        rclpy.spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        node.get_logger().debug("interrupted")
    finally:
        node.close()
        node.destroy_node()
        rclpy.try_shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
