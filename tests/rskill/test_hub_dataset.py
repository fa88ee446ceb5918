"""A data set from the hub: LIBERO's assets, fetched once, completed after an interruption."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import hub_server
import pytest
from hub_server import Hub

from openral_core.errors import HubError
from openral_rskill.hub import download
from openral_sim_bridge.backends.libero.assets import PARTS, REPOSITORY, ensure_assets, find_assets

FILES = {f"{part}/thing.msh": bytes([index]) * 500 for index, part in enumerate(PARTS)}


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub, and a cache that is empty."""
    for name in ("OPENRAL_LIBERO_ASSETS", "HF_TOKEN", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENRAL_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_TOKEN_PATH", str(tmp_path / "no-token"))
    monkeypatch.setattr(download, "PAUSES_S", (0.0,))
    with hub_server.running() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        yield hub


def test_assets_are_fetched_once_and_then_found_without_the_hub(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = hub.commit(f"datasets/{REPOSITORY}", {**FILES, "README.md": b"# assets"})
    said: list[str] = []
    folder = ensure_assets(said.append)
    assert folder.name == f"hub-{commit[:16]}"
    assert {name: (folder / name).read_bytes() for name in FILES} == FILES
    assert len(said) == len(FILES) + 1
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert find_assets() == ensure_assets() == folder


def test_what_an_interruption_left_is_kept(hub: Hub) -> None:
    hub.commit(f"datasets/{REPOSITORY}", FILES)
    name = f"{PARTS[3]}/thing.msh"
    hub.cuts[name] = [100, 0, 0, 0]
    with pytest.raises(HubError, match="run it again, it goes on from there; or set OPENRAL_LIBERO_ASSETS"):
        ensure_assets()
    assert find_assets() is None, "half of them are none"
    hub.cuts.clear()
    hub.requests.clear()
    folder = ensure_assets()
    assert (folder / name).read_bytes() == FILES[name]
    assert len(set(hub.fetched())) == 3, "the first three files were there"
    assert "bytes=100-" in {wanted for _, _, wanted, _ in hub.requests}


def test_another_data_set_is_refused(hub: Hub) -> None:
    hub.commit(f"datasets/{REPOSITORY}", {name: FILES[name] for name in list(FILES)[1:]})
    with pytest.raises(HubError, match=f"has no folder {PARTS[0]}"):
        ensure_assets()
    assert find_assets() is None
