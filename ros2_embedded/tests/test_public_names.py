"""The public names of ROS 2's modules are here too, so that none is lost again.

`upstream_names.json` was written by `tools/upstream_names.py` with the wheels of Jazzy; launch, tf2, ros2cli
and their
kin have no wheels, and their names that programs import stand here.
"""

from __future__ import annotations

import importlib
import json
import warnings
from pathlib import Path
from typing import Any

import pytest

UPSTREAM: dict[str, Any] = json.loads(Path(__file__).with_name("upstream_names.json").read_text())

# Modules that turn interface files into IDL and read IDL: what a build with a compiler needs.
LEFT_OUT_MODULES = ("rosidl_adapter", "rosidl_adapter.main", "rosidl_adapter.action", "rosidl_adapter.msg")
LEFT_OUT_MODULES += (
    "rosidl_adapter.srv",
    "rosidl_adapter.resource",
    "rosidl_adapter.cli",
    "rosidl_parser.parser",
)
LEFT_OUT = {
    # The description of whole IDL files.
    "rosidl_parser.definition": "Action Annotatable Annotation Constant IdlContent IdlFile IdlLocator "
    "Include Member "
    "Message Service Structure",
    "rosidl_adapter.parser": "extract_file_level_comments find_matching_end_quote "
    "parse_string_array_value_string "
    "process_comments",
    # What belongs to the C library, to type checkers, or to the inside of rclpy's loggers.
    "rclpy.context": "g_logging_ref_count",
    "rclpy.exceptions": "TYPE_CHECKING",
    "rclpy.executors": "TYPE_CHECKING",
    "rclpy.parameter": "TYPE_CHECKING",
    "rclpy.impl.implementation_singleton": "import_c_library package",
    "rclpy.impl.rcutils_logger": "CallerId LoggingFilter Once SkipFirst Throttle get_filters_from_kwargs "
    "supported_filters",
    "rclpy.utilities": "g_default_context",
}

WITHOUT_WHEELS = {
    "cv_bridge": "CvBridge CvBridgeError",
    "launch.logging": "LaunchLogger get_logger launch_config",
    "launch_pytest": "actions fixture tools",
    "launch_pytest.actions": "ReadyToTest",
    "launch_pytest.plugin": "LaunchTestWarning event_loop launch_context launch_service",
    "launch_pytest.tools.process": "assert_output assert_output_sync assert_stderr assert_stderr_sync "
    "wait_for_exit wait_for_exit_sync wait_for_output wait_for_output_sync wait_for_start "
    "wait_for_start_sync wait_for_stderr wait_for_stderr_sync",
    "launch.some_entities_type": "SomeEntitiesType SomeEntitiesType_types_tuple",
    "launch.utilities": "AsyncSafeSignalManager normalize_to_list_of_entities perform_substitutions",
    "launch_ros.actions.node": "Node NodeActionExtension get_extensions",
    "launch_ros.ros_adapters": "ROSAdapter get_ros_adapter get_ros_node",
    "launch_ros.utilities": "normalize_remap_rule normalize_remap_rules plugin_support to_parameters_list",
    "tf2_geometry_msgs": "PointStamped PoseStamped PoseWithCovarianceStamped TransformStamped Vector3Stamped "
    "WrenchStamped do_transform_pose from_msg_msg to_msg_msg",
    "tf2_sensor_msgs": "do_transform_cloud transform_points",
    "message_filters": "ApproximateTimeSynchronizer Cache SimpleFilter Subscriber TimeSynchronizer",
    "ros2action.api": "action_name_completer action_type_completer get_action_class "
    "get_action_clients_and_servers "
    "get_action_names get_action_names_and_types",
    "ros2bag.api": "add_standard_reader_args check_not_negative_int check_path_exists check_positive_float "
    "print_error",
    "ros2cli.command": "CommandExtension add_subparsers add_subparsers_on_demand get_command_extensions",
    "ros2cli.entry_points": "EXTENSION_POINT_GROUP_NAME get_all_entry_points get_entry_points "
    "get_first_line_doc load_entry_points",
    "ros2cli.helpers": "bind get_ros_domain_id pretty_print_call unsigned_int wait_for",
    "ros2cli.node": "NODE_NAME_PREFIX",
    "ros2cli.node.daemon": "DaemonNode is_daemon_running shutdown_daemon spawn_daemon",
    "ros2cli.node.direct": "DirectNode add_arguments",
    "ros2cli.node.strategy": "NodeStrategy add_arguments",
    "ros2cli.plugin_system": "PLUGIN_SYSTEM_VERSION PluginException get_first_line_doc "
    "instantiate_extensions order_extensions order_extensions_by_name satisfies_version",
    "ros2component.api": "find_container_node_names get_components_in_container "
    "get_registered_component_types",
    "ros2doctor.api": "DoctorCheck DoctorReport Report Result generate_reports get_topic_names run_checks",
    "ros2doctor.api.format": "compute_padding doctor_error doctor_warn format_print",
    "ros2doctor.api.topic": "TopicCheck TopicReport",
    "ros2interface.api": "interface_to_yaml package_name_completer type_completer",
    "ros2interface.verb.show": "InterfaceTextLine",
    "ros2launch.api": "LaunchFileNameCompleter MultipleLaunchFilesError get_share_file_path_from_package "
    "is_launch_file launch_a_launch_file parse_launch_arguments print_a_launch_file",
    "ros2launch.option": "OptionExtension get_option_extensions",
    "ros2lifecycle.api": "call_change_states call_get_available_transitions call_get_states get_node_names",
    "ros2multicast.api": "receive send",
    "ros2node.api": "INFO_NONUNIQUE_WARNING_TEMPLATE NodeName NodeNameCompleter TopicInfo "
    "get_absolute_node_name "
    "get_action_client_info get_action_server_info get_node_names get_publisher_info get_service_client_info "
    "get_service_server_info get_subscriber_info get_topics has_duplicates parse_node_name wait_for_node",
    "ros2param.api": "ParameterNameCompleter call_describe_parameters call_get_parameters "
    "call_list_parameters "
    "call_set_parameters get_parameter_type_string get_parameter_value get_value load_parameter_dict "
    "load_parameter_file parse_parameter_dict",
    "ros2pkg.api": "PackageNotFound get_executable_paths get_package_names get_prefix_path "
    "package_name_completer",
    "ros2run.api": "ExecutableNameCompleter MultipleExecutables PackageNotFound get_executable_path "
    "run_executable",
    "ros2service.api": "ServiceNameCompleter ServicePrototypeCompleter ServiceTypeCompleter "
    "get_service_class "
    "get_service_names get_service_names_and_types service_type_completer",
    "ros2topic.api": "TopicMessagePrototypeCompleter TopicNameCompleter TopicTypeCompleter "
    "add_qos_arguments choose_qos get_msg_class "
    "get_topic_names get_topic_names_and_types positive_float positive_int profile_configure_short_keys "
    "qos_profile_from_short_keys",
    "ros2cli.verb": "VerbExtension add_task_arguments get_verb_extensions",
    "ros2topic.verb": "VerbExtension",
    "ros2topic.verb.bw": "ROSTopicBandwidth",
    "ros2topic.verb.hz": "ROSTopicHz",
    "rosidl_runtime_py": "get_action_interface_packages get_action_interfaces get_interface_packages "
    "get_interface_path get_interfaces get_message_interface_packages get_message_interfaces "
    "get_service_interface_packages get_service_interfaces message_to_csv message_to_ordereddict "
    "message_to_yaml "
    "set_message_fields",
    "rosidl_runtime_py.import_message": "import_message_from_namespaced_type",
    "rosidl_runtime_py.utilities": "get_action get_action_namespaced_type get_interface get_message "
    "get_message_namespaced_type get_namespaced_type get_service get_service_namespaced_type is_action "
    "is_message "
    "is_service",
    "tf2_ros": "Buffer BufferClient Stamped StaticTransformBroadcaster TransformBroadcaster "
    "TransformListener "
    "TransformStamped",
}
WITHOUT_WHEELS |= {
    f"ros2{command}.verb": "PLUGIN_SYSTEM_VERSION VerbExtension satisfies_version"
    for command in ("action", "bag", "component", "doctor", "interface", "lifecycle", "multicast", "node")
}
MODULES = sorted(set(UPSTREAM["modules"]) - set(LEFT_OUT_MODULES))


def load(module: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecated modules say so
        return importlib.import_module(module)


@pytest.mark.parametrize("module", MODULES)
def test_names_of_the_wheels(module: str) -> None:
    loaded = load(module)
    known = LEFT_OUT.get(module, "").split()
    names = UPSTREAM["modules"][module]
    assert [name for name in names if name not in known and not hasattr(loaded, name)] == []
    assert [name for name in known if name not in names] == [], "take these out of LEFT_OUT"


@pytest.mark.parametrize(("module", "names"), WITHOUT_WHEELS.items())
def test_names_that_programs_import(module: str, names: str) -> None:
    loaded = load(module)
    assert [name for name in names.split() if not hasattr(loaded, name)] == []


def test_the_list_says_where_it_comes_from() -> None:
    assert UPSTREAM["source"]["rclpy"].startswith("7.1.")
    assert len(UPSTREAM["modules"]["rclpy.node"]) > 50
