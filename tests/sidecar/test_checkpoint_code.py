"""A checkpoint that names code of its own in `auto_map`, for a caller that trusts it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from openral_core.errors import PolicyError
from openral_sidecar.environment.checkpoint_code import refuse_checkpoint_code

CODE = """
from pathlib import Path
from transformers import PretrainedConfig

Path({mark!r}).touch()


class Own(PretrainedConfig):
    model_type = "own"
"""


def test_it_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dynamic: Any = pytest.importorskip("transformers.dynamic_module_utils")
    from transformers import AutoConfig

    monkeypatch.setattr(dynamic, "HF_MODULES_CACHE", str(tmp_path / "modules"))
    monkeypatch.setattr(dynamic, "get_class_in_module", dynamic.get_class_in_module)  # put back at the end
    checkpoint, mark = tmp_path / "checkpoint", tmp_path / "was run"
    checkpoint.mkdir()
    (checkpoint / "own.py").write_text(CODE.format(mark=str(mark)))
    config = {"model_type": "own", "auto_map": {"AutoConfig": "own.Own"}}
    (checkpoint / "config.json").write_text(json.dumps(config))
    refuse_checkpoint_code()
    with pytest.raises(
        PolicyError, match=r"the checkpoint wants to run code of its own \(Own in .*own\.py\)"
    ):
        AutoConfig.from_pretrained(checkpoint, trust_remote_code=True)
    assert not mark.exists()
