"""What launch descriptions can do with ROS."""

from .composable_node_container import ComposableNodeContainer
from .lifecycle_node import LifecycleNode
from .lifecycle_transition import LifecycleTransition
from .load_composable_nodes import LoadComposableNodes
from .node import Node
from .push_ros_namespace import PushROSNamespace
from .ros_timer import ROSTimer
from .set_parameter import SetParameter
from .set_parameters_from_file import SetParametersFromFile
from .set_remap import SetRemap
from .set_ros_log_dir import SetROSLogDir
from .set_use_sim_time import SetUseSimTime

PushRosNamespace = PushROSNamespace
RosTimer = ROSTimer
SetRosLogDir = SetROSLogDir

__all__ = [
    "ComposableNodeContainer",
    "LifecycleNode",
    "LifecycleTransition",
    "LoadComposableNodes",
    "Node",
    "PushROSNamespace",
    "PushRosNamespace",
    "ROSTimer",
    "RosTimer",
    "SetParameter",
    "SetParametersFromFile",
    "SetROSLogDir",
    "SetRemap",
    "SetRosLogDir",
    "SetUseSimTime",
]
