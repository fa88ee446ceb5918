"""One ROS node in a process."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import entry_points
from typing import Any

from launch import LaunchContext, LaunchDescriptionEntity, SomeSubstitutionsType, Substitution
from launch.actions import ExecuteProcess
from launch.frontend import Entity, Parser, expose_action
from launch.logging import get_logger
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions

from ..markup import parse_node_attributes
from ..namespaces import join_name
from ..parameter_arguments import ParameterArgument, as_words, global_parameters, own_parameters
from ..parameters_type import SomeParameters, SomeRemapRules
from ..substitutions.executable_in_package import executable_command
from ..utilities.namespace_utils import prefix_namespace
from ..utilities.normalize_parameters import normalize_parameters
from ..utilities.normalize_remap_rules import normalize_remap_rules
from ..utilities.plugin_support import PLUGIN_SYSTEM_VERSION, satisfies_version
from ..utilities.track_node_names import add_node_name

EXTENSIONS_GROUP = "launch_ros.node_action"


class NodeActionExtension:
    """Adds to what `Node` does; entry points of group `launch_ros.node_action` name the subclasses."""

    NAME: str | None = None
    EXTENSION_POINT_VERSION = "0.1"

    def __init__(self) -> None:
        satisfies_version(PLUGIN_SYSTEM_VERSION, f"^{self.EXTENSION_POINT_VERSION}")

    def prepare_for_execute(
        self, context: LaunchContext, ros_specific_arguments: dict[str, Any], node_action: Node
    ) -> tuple[list[Any], dict[str, Any]]:
        """Return further words of the command, and the ROS arguments, changed or not."""
        return [], ros_specific_arguments


def get_extensions(logger: Any) -> dict[str, NodeActionExtension]:
    """Return an instance of each installed extension by name; those that fail are logged and left out."""
    found: dict[str, NodeActionExtension] = {}
    for point in entry_points(group=EXTENSIONS_GROUP):
        try:
            extension: NodeActionExtension = point.load()()
        except Exception as error:  # noqa: BLE001 - an extension of somebody must not end the launch
            logger.warning(f"Failed to load entry point '{point.name}': {error}")
            continue
        extension.NAME = point.name
        found[point.name] = extension
    return found


@expose_action("node")
class Node(ExecuteProcess):
    """Runs a node's executable with ROS arguments made of its name, namespace, parameters and remappings.

    Args:
        executable: name of an executable of the package; without a package, a program.
        package: the package.
        name: the node's name, its own by default.
        namespace: absolute, or relative to what `PushROSNamespace` set.
        exec_name: what the process is called in the launch, the executable's name by default.
        parameters: files, `Parameter`s and dicts (nested names are joined with '.'), the last one wins.
        remappings: pairs of names.
        ros_arguments: further words after `--ros-args`.
        arguments: words before it.
        **kwargs: see `launch.actions.ExecuteProcess`.
    """

    UNSPECIFIED_NODE_NAME = "<node_name_unspecified>"
    UNSPECIFIED_NODE_NAMESPACE = "<node_namespace_unspecified>"

    def __init__(
        self,
        *,
        executable: SomeSubstitutionsType,
        package: SomeSubstitutionsType | None = None,
        name: SomeSubstitutionsType | None = None,
        namespace: SomeSubstitutionsType | None = None,
        exec_name: SomeSubstitutionsType | None = None,
        parameters: SomeParameters | None = None,
        remappings: SomeRemapRules | None = None,
        ros_arguments: Iterable[SomeSubstitutionsType] | None = None,
        arguments: Iterable[SomeSubstitutionsType] | None = None,
        **kwargs: Any,
    ) -> None:
        self.__package = None if package is None else normalize_to_list_of_substitutions(package)
        self.__node_executable = normalize_to_list_of_substitutions(executable)
        self.__node_name = None if name is None else normalize_to_list_of_substitutions(name)
        self.__node_namespace = None if namespace is None else normalize_to_list_of_substitutions(namespace)
        self.__parameters = normalize_parameters(() if parameters is None else parameters)
        self.__remappings = [(list(old), list(new)) for old, new in normalize_remap_rules(remappings or ())]
        self.__ros_arguments = [normalize_to_list_of_substitutions(word) for word in ros_arguments or ()]
        self.__arguments = [normalize_to_list_of_substitutions(word) for word in arguments or ()]
        self.__expanded_remappings: list[tuple[str, str]] = []
        self.__expanded_parameter_arguments: list[ParameterArgument] = []
        self.__expanded_ros_arguments: list[str] = []
        self.__expanded_name = self.UNSPECIFIED_NODE_NAME
        self.__expanded_namespace = self.UNSPECIFIED_NODE_NAMESPACE
        super().__init__(cmd=[executable, *self.__arguments], name=exec_name, **kwargs)

    @classmethod
    def parse(cls, entity: Entity, parser: Parser, ignore: Iterable[str] = ()) -> tuple[Any, dict[str, Any]]:
        """Return how to make the action of an element in markup."""
        _, kwargs = super().parse(entity, parser, {*ignore, "cmd", "name"})
        return cls, {**kwargs, **parse_node_attributes(entity, parser)}

    @property
    def node_package(self) -> list[Substitution] | None:
        """The package, before substitution."""
        return self.__package

    @property
    def node_executable(self) -> list[Substitution]:
        """The executable, before substitution."""
        return self.__node_executable

    @property
    def node_name(self) -> str:
        """Namespace and name, once visited; parts nobody gave are the UNSPECIFIED words."""
        return join_name(self.__expanded_namespace, self.__expanded_name)

    @property
    def expanded_node_namespace(self) -> str:
        """The namespace, once visited."""
        return self.__expanded_namespace

    @property
    def expanded_remapping_rules(self) -> list[tuple[str, str]]:
        """The rules of `SetRemap` and of the node itself, once visited."""
        return self.__expanded_remappings

    def is_node_name_fully_specified(self) -> bool:
        """Return whether name and namespace are known to the launch."""
        return "<" not in self.node_name

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Start the node and count its name."""
        entities = super().execute(context)
        if self.is_node_name_fully_specified():
            add_node_name(context, self.node_name)
        return entities

    @property
    def cmd(self) -> list[Any]:
        """The command: as executed once visited, before that its substitutions; ROS arguments as far as they
        are known."""
        known = list(super().cmd)
        if self.process_description.final_cmd or not self.__expanded_ros_arguments:
            return known
        words = ["--ros-args", *self.__expanded_ros_arguments]
        return known + [normalize_to_list_of_substitutions(word) for word in words]

    def _perform_substitutions(self, context: LaunchContext) -> None:
        """Work out name, namespace, remappings and parameters without running the node."""
        self.__expanded_ros_arguments = self.__expand_ros_arguments(context)

    def prepare(self, context: LaunchContext) -> None:
        """Work out the command: prefix, executable, arguments, ROS arguments."""
        super().prepare(context)
        description = self.process_description
        program, *arguments = description.final_cmd[len(description.final_prefix) :]
        command = [program]
        if self.__package is not None:
            command = executable_command(perform_substitutions(context, self.__package), program)
        for extension in get_extensions(get_logger("launch_ros")).values():
            words, _ = extension.prepare_for_execute(context, {}, self)
            arguments += [
                perform_substitutions(context, normalize_to_list_of_substitutions(word)) for word in words
            ]
        ros_arguments = self.__expand_ros_arguments(context)
        if ros_arguments:
            ros_arguments = ["--ros-args", *ros_arguments]
        description.final_cmd = [*description.final_prefix, *command, *arguments, *ros_arguments]

    def __expand_ros_arguments(self, context: LaunchContext) -> list[str]:
        words = [perform_substitutions(context, word) for word in self.__ros_arguments]
        rules = list(context.launch_configurations.get("ros_remaps", []))
        rules += [
            (perform_substitutions(context, old), perform_substitutions(context, new))
            for old, new in self.__remappings
        ]
        self.__expanded_remappings = list(rules)
        if self.__node_name is not None:
            self.__expanded_name = perform_substitutions(context, self.__node_name)
            rules.append(("__node", self.__expanded_name))
        own = None if self.__node_namespace is None else perform_substitutions(context, self.__node_namespace)
        namespace = prefix_namespace(context.launch_configurations.get("ros_namespace"), own)
        if namespace is not None:
            self.__expanded_namespace = namespace
            rules.append(("__ns", namespace))
        for old, new in rules:
            words += ["-r", f"{old}:={new}"]
        full_name = self.node_name if self.is_node_name_fully_specified() else None
        label = self.process_description.final_name or (full_name or "node").strip("/").replace("/", "-")
        self.__expanded_parameter_arguments = own_parameters(
            context, self.__parameters, full_name or "/**", label
        )
        return words + as_words(global_parameters(context)) + as_words(self.__expanded_parameter_arguments)
