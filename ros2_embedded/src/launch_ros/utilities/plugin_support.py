"""What extensions of actions are checked with."""

from ros2cli.plugin_system import PLUGIN_SYSTEM_VERSION, PluginException, satisfies_version

__all__ = ["PLUGIN_SYSTEM_VERSION", "PluginException", "satisfies_version"]
