"""The base of verbs of `ros2 bag`, for the plug-ins of other packages."""

from ros2cli.plugin_system import PLUGIN_SYSTEM_VERSION, satisfies_version
from ros2cli.verb import VerbExtension

__all__ = ["PLUGIN_SYSTEM_VERSION", "VerbExtension", "satisfies_version"]
