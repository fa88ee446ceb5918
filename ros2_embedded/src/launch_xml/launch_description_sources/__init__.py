"""Descriptions from XML launch files."""

from .xml_launch_description_source import XMLLaunchDescriptionSource

__all__ = ["XMLLaunchDescriptionSource"]
