"""The reward monitor alone, beside a bridge or a robot that is already running.

ros2 launch openral reward_monitor.launch.py scene:=metaworld_drawer skill:=rskill://rskills/mini-progress
"""

from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from launch import LaunchDescription


def generate_launch_description():
    """Return the arguments and the node."""
    parameters = {
        "scene": ParameterValue(LaunchConfiguration("scene"), value_type=str),
        "skill": ParameterValue(LaunchConfiguration("skill"), value_type=str),
        "use_sim_time": ParameterValue(LaunchConfiguration("use_sim_time"), value_type=bool),
    }
    return LaunchDescription(
        [
            DeclareLaunchArgument("scene", default_value="metaworld_drawer", description="name or path"),
            DeclareLaunchArgument("skill", default_value="rskill://rskills/mini-progress"),
            DeclareLaunchArgument("use_sim_time", default_value="true", choices=["true", "false"]),
            Node(package="openral", executable="reward_monitor", parameters=[parameters], output="both"),
        ]
    )
