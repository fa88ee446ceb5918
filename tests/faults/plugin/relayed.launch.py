"""Bridge, two policy nodes and a reward monitor, with a relay in front of the camera and the joints, started apart.

The bridge publishes below /faults; whoever relays to the names that the other nodes know can do what faulty sensors do.
"""

from pathlib import Path

from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from launch import LaunchDescription

IMAGE, JOINTS = "/openral/cameras/corner2/image_raw", "/joint_states"


def generate_launch_description():
    """Return the nodes of the world in `folder`."""
    return LaunchDescription([DeclareLaunchArgument("folder"), OpaqueFunction(function=nodes)])


def nodes(context):
    """Return the nodes."""
    folder = Path(LaunchConfiguration("folder").perform(context))
    common = {"scene": str(folder / "scene.yaml"), "run_dir": str(folder / "run")}
    hosted = {**common, "use_sim_time": True}
    remapped = [(IMAGE, f"/faults{IMAGE}"), (JOINTS, f"/faults{JOINTS}")]
    parts = [
        Node(
            package="openral",
            executable="sim_bridge",
            parameters=[common],
            remappings=remapped,
            output="both",
        )
    ]
    for slug in ("served", "steady"):
        parameters = [{**hosted, "skill": str(folder / slug)}]
        parts.append(
            Node(package="openral", executable="policy_node", name=slug, parameters=parameters, output="both")
        )
    parameters = [{**hosted, "skill": str(folder / "truth")}]
    parts.append(Node(package="openral", executable="reward_monitor", parameters=parameters, output="both"))
    return parts
