"""The process that `openral rskill convert` starts: reads one pickle of tensors, writes one safetensors file."""

from __future__ import annotations

import pickle
import sys
from typing import Any

from openral_core.process.collector import uncollected_imports

_NESTS = ("state_dict", "model_state_dict", "model", "policy", "module")
"""Keys under which training code keeps the tensors beside an optimiser's state and the like."""

_MAGIC = (b"PK", b"\x80")
"""What torch.save begins a file with: a zip archive, or of old a pickle."""


def main(source: str, target: str) -> str | None:
    """Convert; return what was wrong, in one line, or None."""
    try:
        with open(source, "rb") as file:
            if not file.read(max(map(len, _MAGIC))).startswith(_MAGIC):
                return "is no file that torch.save wrote; name a pickle of tensors"
    except OSError as error:
        return _unreadable(error)
    try:
        with uncollected_imports():
            import torch
            from safetensors.torch import save_file
    except ImportError as error:
        return f"{error.name} is not installed; pip install 'openral[models]'"
    try:
        content = torch.load(source, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:
        return (
            "needs more than plain tensors to be read, which can run anything; "
            "ask its maker for safetensors, or load and save it where you trust it"
        )
    except (OSError, RuntimeError, EOFError, ValueError) as error:
        return _unreadable(error)
    try:
        tensors = _tensors(content, torch.Tensor)
    except _UnclearError as error:
        return str(error)
    if not tensors:
        return "holds no tensors by name; name the file with the weights"
    # Tensors that share memory, such as tied embeddings, would be refused by the format.
    save_file(
        {name: value.detach().clone().contiguous() for name, value in tensors.items()},
        target,
        {"format": "pt"},
    )
    return None


def _unreadable(error: Exception) -> str:
    why = (str(error).splitlines() or [type(error).__name__])[0]
    return f"cannot be read ({why[:100]}); fetch it again"


class _UnclearError(Exception):
    """It is not clear which tensors are the weights, or what they are called."""


def _tensors(content: Any, kind: type) -> dict[str, Any]:
    """Return the tensors by name, from where training code puts them.

    Raises:
        _UnclearError: tensors would be left out that may be weights as well as the others.
    """
    if not isinstance(content, dict):
        return {}
    nests = [nest for nest in _NESTS if isinstance(content.get(nest), dict)]
    if len(full := [nest for nest in nests if _holds(content[nest], kind)]) > 1:
        raise _UnclearError(
            f"holds tensors in {' and in '.join(map(repr, full))}; save the table that is meant by torch.save alone"
        )
    if nests:
        return _tensors(content[(full or nests)[0]], kind)
    deeper = [name for name, value in content.items() if not isinstance(value, kind) and _holds(value, kind)]
    if deeper:
        raise _UnclearError(
            f"holds tensors further inside, in {str(deeper[0])!r}, where they have no name of their own; save one "
            "table of names and tensors by torch.save"
        )
    return {str(name): value for name, value in content.items() if isinstance(value, kind)}


def _holds(value: Any, kind: type) -> bool:
    """Return whether a value is of a kind, or a container with one that is."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return isinstance(value, kind) or any(_holds(part, kind) for part in parts)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
