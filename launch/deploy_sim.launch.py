"""A whole deployment in simulation: bridge, one policy node a skill, motions, reward monitor, reasoner.

    ros2 launch openral deploy_sim.launch.py scene:=metaworld_drawer mission:="open the drawer"

The launch ends when the mission has ended (unless exit_when_done is false), and with an error when the bridge ends,
or when a node finds that what was asked for cannot run. A node that breaks down is started again, a few times.
"""

from functools import partial

from launch.actions import DeclareLaunchArgument, OpaqueFunction, Shutdown

from launch import LaunchDescription
from openral_cli.deploy.launch_nodes import SHARED_ARGUMENTS, deployment, node, number, text

ARGUMENTS = [
    DeclareLaunchArgument(
        "scene", default_value="metaworld_drawer", description="name or path of a scene file"
    ),
    DeclareLaunchArgument(
        "mode",
        default_value="realtime",
        choices=["realtime", "lockstep"],
        description="lockstep: the world waits for the policy",
    ),
    DeclareLaunchArgument("real_time_factor", default_value="1.0", description="sim seconds per wall second"),
    DeclareLaunchArgument(
        "task", default_value="", description="task whose initial state is used; empty: the first"
    ),
    DeclareLaunchArgument(
        "init_id", default_value="-1", description="initial state; negative: the scene's own"
    ),
    DeclareLaunchArgument(
        "sim_positions",
        default_value="false",
        choices=["true", "false"],
        description="locate things by the simulator's own positions, which every answer then says",
    ),
    DeclareLaunchArgument(
        "disturbance",
        default_value="",
        description="what goes wrong in the world, once a reset: open_in_lift, push_away; empty: nothing",
    ),
    *SHARED_ARGUMENTS,
]


def generate_launch_description():
    """Return the arguments, and the nodes as soon as the arguments are known."""
    start = partial(deployment, arguments=ARGUMENTS, bridge=bridge, use_sim_time=True)
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=start)])


def bridge(values, common):
    """The only process that moves the arm; nothing goes on without it."""
    parameters = {
        **common,
        "mode": values["mode"],
        "real_time_factor": number(values, "real_time_factor", 0, 1000),
        "task": text(values["task"]),
        "init_id": int(number(values, "init_id", -(2**31), 2**31 - 1)),
        "sim_positions": values["sim_positions"] == "true",
        "disturbance": text(values["disturbance"]),
    }
    return node("sim_bridge", values, parameters, Shutdown(reason="the bridge has ended"))
