"""LIBERO's files: assets that are found, unpacked or refused, and stored states that are read and never run."""

from __future__ import annotations

import os
import pickle
import tarfile
import zipfile

import numpy as np
import pytest
from libero_parts import fill_assets

from openral_core.errors import HubError, SimulationError
from openral_sim_bridge.backends.libero.assets import ensure_assets, find_assets
from openral_sim_bridge.backends.libero.health import checks
from openral_sim_bridge.backends.libero.upstream import read_states


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENRAL_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.delenv("OPENRAL_LIBERO_ASSETS", raising=False)
    return tmp_path / "cache"


def pack(folder, archive, inside=""):
    with tarfile.open(archive, "w:xz") as packed:
        for path in sorted(folder.iterdir()):
            packed.add(path, arcname=f"{inside}{path.name}")
    return archive


def test_a_folder_is_taken_as_it_is(cache, tmp_path, monkeypatch):
    folder = fill_assets(tmp_path / "assets")
    monkeypatch.setenv("OPENRAL_LIBERO_ASSETS", str(folder))
    assert find_assets() == ensure_assets() == folder
    (folder / "textures" / "thing.xml").unlink()
    (folder / "textures").rmdir()
    with pytest.raises(SimulationError, match="has no folder textures; name LIBERO's assets folder"):
        ensure_assets()


@pytest.mark.parametrize(
    "left", ["snapshots/c0ffee/.cache/huggingface/download/textures/x.1.incomplete", "blobs/1.incomplete"]
)
def test_a_folder_whose_download_was_interrupted_is_told(cache, tmp_path, monkeypatch, left):
    folder = fill_assets(tmp_path / "snapshots" / "c0ffee")
    monkeypatch.setenv("OPENRAL_LIBERO_ASSETS", str(folder))
    (tmp_path / left).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / left).touch()
    with pytest.raises(SimulationError, match=r"download was interrupted \(.*\.incomplete\); run it again"):
        ensure_assets()
    (tmp_path / left).unlink()
    assert ensure_assets() == folder


@pytest.mark.parametrize("inside", ["", "assets/"])
def test_an_archive_is_unpacked_once(cache, tmp_path, monkeypatch, inside):
    archive = pack(fill_assets(tmp_path / "assets"), tmp_path / "a.tar.xz", inside)
    monkeypatch.setenv("OPENRAL_LIBERO_ASSETS", str(archive))
    said = []
    assert find_assets() is None
    folder = ensure_assets(said.append)
    assert cache in folder.parents
    assert (folder / "scenes" / "thing.xml").is_file()
    assert find_assets() == ensure_assets(said.append) == folder
    assert said == ["unpacking a.tar.xz"]
    assert [path.name for path in folder.parent.iterdir()] == [folder.name], "nothing half unpacked is left"


@pytest.mark.parametrize("content", ["no archive", "other files", "outside"])
def test_an_archive_of_something_else_is_refused(cache, tmp_path, monkeypatch, content):
    archive = tmp_path / "a.tar.xz"
    if content == "no archive":
        archive.write_bytes(b"hello")
    else:
        (tmp_path / "other").mkdir()
        (tmp_path / "other" / "file").write_text("x")
        pack(tmp_path / "other", archive, "../../" if content == "outside" else "")
    monkeypatch.setenv("OPENRAL_LIBERO_ASSETS", str(archive))
    with pytest.raises(SimulationError, match=r"^OPENRAL_LIBERO_ASSETS=.*LIBERO.*$"):
        ensure_assets()
    assert not list((cache / "libero" / "assets").iterdir())
    assert not (cache / "file").exists()


@pytest.mark.parametrize("damage", ["cut off", "overwritten"])
def test_a_damaged_archive_is_refused(cache, tmp_path, monkeypatch, damage):
    folder = fill_assets(tmp_path / "assets")
    (folder / "textures" / "large").write_bytes(np.random.default_rng(0).bytes(1 << 18))
    archive = pack(folder, tmp_path / "a.tar.xz")
    data, half = archive.read_bytes(), archive.stat().st_size // 2
    archive.write_bytes(data[:half] + (b"" if damage == "cut off" else bytes(half)))
    monkeypatch.setenv("OPENRAL_LIBERO_ASSETS", str(archive))
    with pytest.raises(
        SimulationError, match=r"^OPENRAL_LIBERO_ASSETS=.*; name a tar.xz of LIBERO's assets$"
    ):
        ensure_assets()
    assert not list((cache / "libero" / "assets").iterdir())


def test_what_is_not_there_is_named(cache, monkeypatch):
    monkeypatch.setenv("OPENRAL_LIBERO_ASSETS", "/nowhere/a.tar.xz")
    with pytest.raises(SimulationError, match="no such folder or file"):
        find_assets()
    monkeypatch.delenv("OPENRAL_LIBERO_ASSETS")
    assert find_assets() is None
    with pytest.raises(HubError, match="or set OPENRAL_LIBERO_ASSETS"):
        ensure_assets()


def states_file(path, data):
    """A file as torch.save of years ago wrote it, when numpy's modules had these names."""
    data = pickle.dumps(data, protocol=2).replace(b"numpy._core.multiarray", b"numpy.core.multiarray")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", data)
    return path


@pytest.mark.parametrize("shape", [(50, 92), (2, 300), (300, 2)])
def test_stored_states_are_read(tmp_path, shape):
    states = np.random.default_rng(0).normal(size=shape)
    np.testing.assert_array_equal(read_states(states_file(tmp_path / "a", states)), states)


class Evil:
    def __reduce__(self):
        return os.system, ("touch evil",)


@pytest.mark.parametrize(
    "data",
    [
        Evil(),
        [np.zeros((5, 4)), Evil()],
        np.zeros((5, 4), np.float32),
        np.zeros((5, 4), ">f8"),
        np.zeros(20),
        {"a": 1},
    ],
    ids=["code", "code beside", "float32", "big endian", "one dimension", "dict"],
)
def test_other_content_is_refused_and_never_run(tmp_path, monkeypatch, data):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SimulationError, match="not a plain float64 array"):
        read_states(states_file(tmp_path / "a", data))
    assert not (tmp_path / "evil").exists()


def test_doctor_says_what_is_there_and_what_brings_it(cache, tmp_path, monkeypatch):
    rows = {row.name: row for row in checks()}
    assert rows["libero"].ok
    assert "openral sidecar build libero" in rows["libero"].found
    assert "python -m openral_sim_bridge.backends.libero.assets" in rows["libero assets"].found
    monkeypatch.setenv("OPENRAL_LIBERO_ASSETS", str(fill_assets(tmp_path / "assets")))
    assert checks()[1].found == str(tmp_path / "assets")
    monkeypatch.setenv("OPENRAL_LIBERO_ASSETS", "/nowhere")
    assert not checks()[1].ok
    assert "export OPENRAL_LIBERO_ASSETS=" in checks()[1].fix
