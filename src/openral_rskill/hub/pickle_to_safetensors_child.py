"""The process that `openral rskill convert` starts: reads one pickle of tensors, writes one safetensors file."""

from __future__ import annotations

import pickle
import sys
from typing import Any

_NESTS = ("state_dict", "model_state_dict", "model", "policy", "module")
"""Keys under which training code keeps the tensors beside an optimiser's state and the like."""

_MAGIC = (b"PK", b"\x80")
"""What torch.save begins a file with: a zip archive, or of old a pickle."""


def main(source: str, target: str) -> str | None:
    """Convert; return what was wrong, in one line, or None."""
    try:
        import torch
        from safetensors.torch import save_file
    except ImportError as error:
        return f"{error.name} is not installed; pip install 'openral[models]'"
    try:
        with open(source, "rb") as file:
            if not file.read(max(map(len, _MAGIC))).startswith(_MAGIC):
                return "is no file that torch.save wrote; name a pickle of tensors"
        content = torch.load(source, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:
        return (
            "needs more than plain tensors to be read, which can run anything; "
            "ask its maker for safetensors, or load and save it where you trust it"
        )
    except (OSError, RuntimeError, EOFError, ValueError) as error:
        why = (str(error).splitlines() or [type(error).__name__])[0]
        return f"cannot be read ({why[:100]}); fetch it again"
    tensors = _tensors(content, torch.Tensor)
    if not tensors:
        return "holds no tensors by name; name the file with the weights"
    # Tensors that share memory, such as tied embeddings, would be refused by the format.
    save_file(
        {name: value.detach().clone().contiguous() for name, value in tensors.items()},
        target,
        {"format": "pt"},
    )
    return None


def _tensors(content: Any, kind: type) -> dict[str, Any]:
    """Return the tensors by name, from where training code puts them."""
    if not isinstance(content, dict):
        return {}
    for nest in _NESTS:
        if isinstance(content.get(nest), dict):
            return _tensors(content[nest], kind)
    return {str(name): value for name, value in content.items() if isinstance(value, kind)}


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
