"""The reward monitor alone, beside a bridge or a robot that is already running.

ros2 launch openral reward_monitor.launch.py scene:=metaworld_drawer
ros2 launch openral reward_monitor.launch.py scene:='' cameras:=front image_topic:=/camera/image_raw \\
    use_sim_time:=false task:="open the drawer"
"""

from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from launch import LaunchDescription
from openral_core.graph.namespaces import DEFAULT_NAMESPACE, read_namespace, remappings

ARGUMENTS = [
    DeclareLaunchArgument(
        "namespace", default_value=DEFAULT_NAMESPACE, description="of the deployment that is watched"
    ),
    DeclareLaunchArgument(
        "scene", default_value="metaworld_drawer", description="name or path; empty: any robot"
    ),
    DeclareLaunchArgument("skill", default_value="rskill://rskills/mini-progress"),
    DeclareLaunchArgument(
        "cameras",
        default_value="",
        description="names with commas, the preferred one first; empty: the scene's first",
    ),
    DeclareLaunchArgument(
        "image_topic", default_value="", description="what the first of `cameras` is called on this robot"
    ),
    DeclareLaunchArgument(
        "task", default_value="", description="words to watch for while no goal is running"
    ),
    DeclareLaunchArgument("device", default_value="cpu", description="where the model runs: cpu, cuda"),
    DeclareLaunchArgument("use_sim_time", default_value="true", choices=["true", "false"]),
]


def generate_launch_description():
    """Return the arguments, and the node as soon as they are known."""
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=monitor)])


def monitor(context):
    """Return the node."""
    values = {argument.name: LaunchConfiguration(argument.name).perform(context) for argument in ARGUMENTS}
    namespace = read_namespace(values.pop("namespace"))
    topic, first = values.pop("image_topic"), values["cameras"].partition(",")[0].strip()
    if topic and not first:
        raise RuntimeError("image_topic needs a camera to stand for: give cameras as well")
    if topic.endswith("/compressed"):
        raise RuntimeError(f"image_topic {topic}: the monitor takes sensor_msgs/Image; republish it as raw")
    parameters = {name: ParameterValue(value, value_type=str) for name, value in values.items()}
    parameters["use_sim_time"] = values["use_sim_time"] == "true"
    images = [(f"{namespace}/cameras/{first}/image_raw", topic)] if topic else []
    return [
        Node(
            package="openral",
            executable="reward_monitor",
            parameters=[parameters],
            namespace=namespace,
            remappings=[*remappings(namespace), *images],
            output="both",
        )
    ]
