"""A JSON file of a checkpoint: an object, or one line that says what is wrong with the file. Standard library only."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from openral_core.errors import OpenralError

_FIX = "fetch it again, or save the checkpoint anew if it is your own"


def read_json_object(path: Path, refusal: type[OpenralError]) -> dict[str, Any]:
    """Return the object in a file of a checkpoint.

    Args:
        path: the file.
        refusal: the error to raise.

    Raises:
        OpenralError: of type `refusal`: there is no such file, it cannot be read, or holds something else.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        raise refusal(f"{path} is no file; {_FIX}")  # to open a pipe would wait for who writes to it
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise refusal(f"{path.parent} has no {path.name}; name the folder of a whole checkpoint") from None
    except (OSError, ValueError, RecursionError) as error:
        raise refusal(f"{path} cannot be read ({error}); {_FIX}") from error
    if not isinstance(content, dict):
        raise refusal(f"{path} is not a JSON object; {_FIX}")
    return content
