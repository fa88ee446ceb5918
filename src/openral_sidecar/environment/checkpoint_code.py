"""Keeps transformers from running code that a checkpoint brings or names, whatever its callers allow.

The configuration of a checkpoint may name a Python file of its own folder, or of any repository, in `auto_map`, which
transformers imports where a caller passes `trust_remote_code=True`. RLDX-1's loader and some parts of LeRobot do.
"""

from __future__ import annotations

import importlib
from typing import Any, NoReturn

from openral_core.errors import PolicyError

_MODULE, _FUNCTION = "transformers.dynamic_module_utils", "get_class_in_module"
"""Where transformers imports such a file; every way to one leads through this function."""


def refuse_checkpoint_code() -> None:
    """Make every import of a checkpoint's code in this process raise PolicyError.

    Call it before a checkpoint is loaded.

    Raises:
        PolicyError: this transformers has no such function, so that nothing would be refused.
    """
    module = importlib.import_module(_MODULE)
    if not hasattr(module, _FUNCTION):
        raise PolicyError(f"{_MODULE} has no {_FUNCTION}; use the transformers that the sidecar's spec names")
    setattr(module, _FUNCTION, _refuse)


def _refuse(class_name: str, module_path: Any, **options: Any) -> NoReturn:
    raise PolicyError(
        f"the checkpoint wants to run code of its own ({class_name} in {module_path}), which nothing here runs; "
        "remove auto_map from its configuration if its classes are known without it"
    )
