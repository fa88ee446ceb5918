"""Messages about the skills that a node hosts, and of the chunks that it sends."""

from __future__ import annotations

import json
from array import array
from dataclasses import dataclass

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point
from openral.msg import ActionChunk, SkillInfo
from openral.msg import StartPose as StartPoseMessage

from openral_core.graph.namespaces import graph_name
from openral_core.manifest import StartPose
from openral_core.scene import DeployScene
from openral_policy_nodes.inference import PolicyChunk
from openral_rskill.registry import RSkillPackage


@dataclass(frozen=True)
class HostedSkill:
    """A skill that a node hosts, or is about to host."""

    package: RSkillPackage
    scene: DeployScene
    node_namespace: str
    """Namespace of the node that hosts it."""
    horizon: int = 0
    """H, number of actions of its longest chunk; 0: the manifest's `chunk_size`."""

    @property
    def action(self) -> str:
        """Full name of the skill's action."""
        return graph_name(self.node_namespace, f"skills/{self.package.slug}/execute")


def chunk_message(chunk: PolicyChunk, skill: str, scene: DeployScene) -> ActionChunk:
    """Return the message of a chunk, with values that are not finite unchanged."""
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
    """Return the message that announces a skill of a node.

    Args:
        hosted: the skill.
        node: full name of the node.
        state: its lifecycle state.
        goal_id: hex UUID of the skill's running goal; empty: none.
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
        horizon_s=(hosted.horizon or manifest.chunk_size) * hosted.scene.dt,
        goal_id=goal_id,
        start_poses=[start_pose_message(start) for start in manifest.start_poses],
        leaves=manifest.leaves,
        task_leaves=[example.leaves or manifest.leaves for example in manifest.examples],
        goal_params_schema=json.dumps(manifest.goal_params_schema) if manifest.goal_params_schema else "",
    )


def start_pose_message(start: StartPose) -> StartPoseMessage:
    """Return the message of a start pose of a manifest; an opening that is not given becomes -1."""
    x, y, z = start.position
    return StartPoseMessage(
        task=start.task or "",
        position=Point(x=x, y=y, z=z),
        tolerance_m=start.tolerance_m,
        gripper_m=-1.0 if start.gripper_m is None else start.gripper_m,
    )
