"""Values that are worked out while a launch runs."""

from ..substitution_failure import SubstitutionFailure
from .anon_name import AnonName
from .boolean_substitution import (
    AllSubstitution,
    AndSubstitution,
    AnySubstitution,
    BooleanSubstitution,
    NotSubstitution,
    OrSubstitution,
)
from .command import Command
from .environment_variable import EnvironmentVariable
from .equals_substitution import EqualsSubstitution, NotEqualsSubstitution
from .file_content import FileContent
from .find_executable import FindExecutable
from .for_variable import ForEachVar, ForLoopIndex
from .if_else_substitution import IfElseSubstitution
from .launch_configuration import LaunchConfiguration
from .launch_log_dir import LaunchLogDir
from .local_substitution import LocalSubstitution
from .path_join_substitution import PathJoinSubstitution
from .path_substitution import PathSubstitution
from .python_expression import PythonExpression
from .string_join_substitution import StringJoinSubstitution
from .text_substitution import TextSubstitution
from .this_launch_file import ThisLaunchFile
from .this_launch_file_dir import ThisLaunchFileDir

LaunchLogDirectory = LaunchLogDir

__all__ = [
    "AllSubstitution",
    "AndSubstitution",
    "AnonName",
    "AnySubstitution",
    "BooleanSubstitution",
    "Command",
    "EnvironmentVariable",
    "EqualsSubstitution",
    "FileContent",
    "FindExecutable",
    "ForEachVar",
    "ForLoopIndex",
    "IfElseSubstitution",
    "LaunchConfiguration",
    "LaunchLogDir",
    "LaunchLogDirectory",
    "LocalSubstitution",
    "NotEqualsSubstitution",
    "NotSubstitution",
    "OrSubstitution",
    "PathJoinSubstitution",
    "PathSubstitution",
    "PythonExpression",
    "StringJoinSubstitution",
    "SubstitutionFailure",
    "TextSubstitution",
    "ThisLaunchFile",
    "ThisLaunchFileDir",
]
