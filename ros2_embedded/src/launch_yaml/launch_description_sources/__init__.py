"""Descriptions from YAML launch files."""

from .yaml_launch_description_source import YAMLLaunchDescriptionSource

__all__ = ["YAMLLaunchDescriptionSource"]
