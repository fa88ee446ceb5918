"""What `ros2 interface show` reads definitions with."""

from ros2cli.definition_text import InterfaceTextLine

__all__ = ["InterfaceTextLine"]
