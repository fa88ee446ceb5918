"""Paths of files, as the functions that read launch files take them."""

from __future__ import annotations

import os
from typing import Union

FilePath = Union[str, "os.PathLike[str]"]
