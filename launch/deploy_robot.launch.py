"""A whole deployment on a real arm: robot bridge, one policy node a skill, motions, reward monitor, reasoner.

    ros2 launch openral deploy_robot.launch.py scene:=fr3_tabletop address:=172.16.0.2 shadow:=true

The nodes are those of deploy_sim.launch.py with the arm's bridge in place of the simulator's, on the wall clock.
The cameras of the scene's `arm.cameras` come from topics of their drivers, or from devices; others publish on
`/openral/cameras/<name>/image_raw` and `…/camera_info` by themselves. The arm moves only while somebody publishes
`/openral/hold_to_run` (docs/real-arms.md).
"""

from functools import partial

from launch.actions import DeclareLaunchArgument, OpaqueFunction, Shutdown

from launch import LaunchDescription
from openral_cli.deploy.launch_nodes import SHARED_ARGUMENTS, deployment, node, text

ARGUMENTS = [
    DeclareLaunchArgument("scene", description="name or path of a scene file with a section `arm`"),
    DeclareLaunchArgument("address", default_value="", description="of the arm; empty: the scene's"),
    DeclareLaunchArgument(
        "shadow",
        default_value="false",
        choices=["true", "false"],
        description="do everything, but send nothing to the arm",
    ),
    *SHARED_ARGUMENTS,
]


def generate_launch_description():
    """Return the arguments, and the nodes as soon as the arguments are known."""
    start = partial(deployment, arguments=ARGUMENTS, bridge=bridge, use_sim_time=False)
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=start)])


def bridge(values, common):
    """The only process that moves the arm; nothing goes on without it."""
    parameters = {**common, "address": text(values["address"]), "shadow": values["shadow"] == "true"}
    return node("robot_bridge", values, parameters, Shutdown(reason="the bridge has ended"))
