"""A home that nobody has is no traceback, wherever a path may be written with `~`."""

from __future__ import annotations

from pathlib import Path

import pytest

from openral_control.estop_latch import latch_of_run
from openral_core.errors import InstallationError
from openral_core.files.cache import cache_home
from openral_reasoner.llm.settings import ModelSettings, api_key
from openral_reasoner.memory.notes_file import default_memory_file
from openral_rskill.hub.client import HubClient
from openral_sidecar.environment.spec import SidecarSpec

NOBODY = "~no-such-user/x"


def test_a_home_that_nobody_has_stays_as_it_was_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENRAL_CACHE_HOME", NOBODY)
    monkeypatch.setenv("XDG_DATA_HOME", NOBODY)
    assert cache_home() == Path(NOBODY).absolute()
    assert default_memory_file() == Path(NOBODY) / "openral" / "memory.txt"
    assert latch_of_run(NOBODY, 0, "/openral", {}).parent == Path(NOBODY)
    source = SidecarSpec("echo", "3.11", (), "module").with_source(Path(NOBODY)).source
    assert source is not None
    assert source.location == str(Path(NOBODY).absolute())


@pytest.mark.parametrize("variable", ["HF_HOME", "HF_TOKEN_PATH"])
def test_a_token_in_it_is_none(variable: str) -> None:
    HubClient({variable: NOBODY})


def test_a_key_in_it_is_one_that_is_not_there() -> None:
    with pytest.raises(InstallationError, match=f"API_KEY_FILE: {NOBODY}: No such file"):
        api_key(ModelSettings(model="openai:b"), {"OPENRAL_REASONER_API_KEY_FILE": NOBODY})
