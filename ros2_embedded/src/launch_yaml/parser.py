"""Reading of YAML launch files."""

from __future__ import annotations

import os
from typing import IO

import yaml

from launch.frontend.errors import InvalidFrontendLaunchFileError
from launch.frontend.parser import Parser as BaseParser
from launch.utilities.typing_file_path import FilePath

from .entity import Entity


class Parser(BaseParser):
    """Reads YAML with the one key `launch` at its root."""

    @classmethod
    def load(cls, file: FilePath | IO[str]) -> tuple[Entity, Parser]:
        """Return the root element and a parser; raise InvalidFrontendLaunchFileError if that is no YAML."""
        is_path = isinstance(file, (str, os.PathLike))
        name = file if is_path else getattr(file, "name", "the text")
        try:
            if isinstance(file, (str, os.PathLike)):
                with open(file, encoding="utf-8") as opened:
                    tree = yaml.safe_load(opened)
            else:
                tree = yaml.safe_load(file)
        except yaml.YAMLError as error:
            reason = " ".join(str(error).split())
            raise InvalidFrontendLaunchFileError(f"{name} is no YAML: {reason}") from error
        if not isinstance(tree, dict) or len(tree) != 1:
            raise InvalidFrontendLaunchFileError(f"{name} must hold one key, 'launch', with a list below it")
        [(root, element)] = tree.items()
        return Entity(element, root), cls()

    @classmethod
    def get_file_extensions(cls) -> set[str]:
        """Return `yaml` and `yml`."""
        return {"yaml", "yml"}
