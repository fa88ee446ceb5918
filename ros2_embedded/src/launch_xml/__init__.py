"""Launch files in XML."""

from .entity import Entity
from .parser import Parser

__all__ = ["Entity", "Parser"]
