"""Reading of XML launch files."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import IO

from launch.frontend.errors import InvalidFrontendLaunchFileError
from launch.frontend.parser import Parser as BaseParser
from launch.utilities.typing_file_path import FilePath

from .entity import Entity


class Parser(BaseParser):
    """Reads XML with a root `<launch>`."""

    @classmethod
    def load(cls, file: FilePath | IO[str]) -> tuple[Entity, Parser]:
        """Return the root element and a parser; raise InvalidFrontendLaunchFileError if that is no XML."""
        try:
            return Entity(ElementTree.parse(file).getroot()), cls()
        except (ElementTree.ParseError, LookupError, ValueError) as error:  # or an unknown encoding
            name = getattr(file, "name", "the text") if hasattr(file, "read") else file
            raise InvalidFrontendLaunchFileError(f"{name} is no XML: {error}") from error

    @classmethod
    def get_file_extensions(cls) -> set[str]:
        """Return `xml`."""
        return {"xml"}
