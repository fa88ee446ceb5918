"""A hub on this machine with a skill and its weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import hub_server
import pytest
from example_skill import MANIFEST, write_safetensors
from hub_server import SKILL, WEIGHTS, Hub

from openral_rskill.hub import download


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub, and a cache that is empty."""
    for name in ("OPENRAL_ACCEPT_NONCOMMERCIAL", "OPENRAL_ALLOW_NONCOMMERCIAL", "HF_TOKEN", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENRAL_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_TOKEN_PATH", str(tmp_path / "no-token"))
    monkeypatch.setattr(download, "PAUSES_S", (0.0, 0.0))
    with hub_server.running() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        yield hub


@pytest.fixture
def weights(tmp_path: Path) -> bytes:
    """A safetensors file that is large enough to break off in the middle."""
    path = tmp_path / "w.safetensors"
    write_safetensors(path, count=2000)
    return path.read_bytes()


@pytest.fixture
def commit(hub: Hub, weights: bytes) -> Callable[..., tuple[str, str]]:
    """Put a skill and its weights on the hub; return both commits."""

    def make(license_: str = "apache-2.0", uri: str = f"hf://{WEIGHTS}", **more: bytes) -> tuple[str, str]:
        manifest = MANIFEST.replace("openral/rskill-example", SKILL).replace("apache-2.0", license_)
        manifest = manifest.replace("local://model.safetensors", uri)
        skill = hub.commit(
            SKILL,
            {
                "rskill.yaml": manifest.encode(),
                "README.md": b"# example",
                "eval/a.json": b"{}",
                "calibration.json": b"{}",
                "model.safetensors": weights,
                **more,
            },
        )
        files = {
            "config.json": b"{}",
            "model.safetensors": weights,
            "pytorch_model.bin": b"\x80\x02.",
            "train.py": b"1",
            "training_state/optimizer.safetensors": weights,
        }
        return skill, hub.commit(WEIGHTS, files)

    return make
