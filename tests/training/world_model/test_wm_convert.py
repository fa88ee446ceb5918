"""Files that are pickles: read by a reader that runs nothing, only when asked, and written anew as arrays."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from typer.testing import CliRunner

from openral_core.errors import ManifestError, NotFoundError
from openral_training.world_model.pickled_arrays import read_object_array
from openral_training.world_model.starts import load_starts
from openral_training.world_model.unpickle_files import convert
from openral_training.world_model_commands import app


class Program:
    """What a pickle may hold."""

    def __init__(self, target: Path) -> None:
        self._target = target

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return os.mkdir, (str(self._target),)


def frames(count: int = 3) -> np.ndarray:
    """Return a trajectory as RLinf stores it: a dictionary a frame."""
    out = np.empty(count, object)
    for number in range(count):
        out[number] = {
            "image": np.full((8, 8, 3), number, np.uint8),
            "delta_action": np.full(7, 0.5 * number, np.float64),
            "init_ee_pose": np.arange(6.0),
            "instruction": "pick up the bowl",
            "step": np.int64(number),
            "done": False,
        }
    return out


def stored(folder: Path, content: np.ndarray, number: int = 0) -> Path:
    (folder / "dataset").mkdir(exist_ok=True)
    path = folder / "dataset" / f"traj{number}.npy"
    np.save(path, content, allow_pickle=True)
    return path


def test_trajectories_become_files_without_objects(tmp_path: Path) -> None:
    for number in range(11):
        stored(tmp_path, frames(), number)
    assert len(convert(tmp_path, numpy_objects=True)) == 11
    with np.load(tmp_path / "dataset" / "traj0.npz", allow_pickle=False) as content:
        assert content["image"].shape == (3, 8, 8, 3)
        assert content["image"][2, 0, 0, 0] == 2
        assert content["delta_action"].tolist() == frames_of("delta_action")
        assert str(content["instruction"]) == "pick up the bowl"
    starts = load_starts(tmp_path)
    assert starts.init_ids("pick up the bowl") == list(range(11))
    assert starts.at("pick up the bowl", 10).frame.shape == (8, 8, 3)


def frames_of(name: str) -> list[list[float]]:
    return [frame[name].tolist() for frame in frames()]


def test_objects_are_not_read_unasked(tmp_path: Path) -> None:
    stored(tmp_path, frames())
    with pytest.raises(ManifestError, match="--numpy-objects"):
        convert(tmp_path, numpy_objects=False)
    with pytest.raises(NotFoundError, match="world-model convert"):
        load_starts(tmp_path)


@pytest.mark.parametrize("protocol", [2, 4])
def test_a_program_in_a_pickle_is_not_run(tmp_path: Path, protocol: int) -> None:
    trap = frames()
    trap[1]["image"] = Program(tmp_path / "run")
    path = stored(tmp_path, frames())
    header = path.read_bytes()[:128]
    path.write_bytes(header + pickle.dumps(trap, protocol))
    with pytest.raises(ManifestError, match="mkdir"):
        convert(tmp_path, numpy_objects=True)
    assert not (tmp_path / "run").exists()


def forged(path: Path) -> None:
    """Write an array of texts of four letters whose dtype says afterwards that they have 2**28."""
    dtype = b"cnumpy\ndtype\n(V%s\nI00\nI01\ntR"
    with path.open("wb") as file:
        about = {"descr": "|O", "fortran_order": False, "shape": (1,)}
        np.lib.format.write_array_header_1_0(file, about)
        file.write(b"\x80\x02" + dtype % b"S4" + b"q\x010")
        file.write(b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R")
        file.write(b"(K\x01K\x01\x85" + dtype % b"O8" + b"\x89]cnumpy\nndarray\n(K\x02\x85h\x01tRatb")
        file.write(b"h\x01(K\x03V|\nNNNJ\x00\x00\x00\x10K\x01K\x00tb0.")


def test_an_array_with_a_forged_kind_reads_no_foreign_memory(tmp_path: Path) -> None:
    """The process would crash, or write what lies behind the array into the new file."""
    path = stored(tmp_path, frames())
    forged(path)
    reads = "from openral_training.world_model import pickled_arrays as reader; import pathlib, sys\n"
    reads += "try: print(len(reader.read_object_array(pathlib.Path(sys.argv[1]))[0][0]))\n"
    reads += "except reader.ManifestError as error: print('refused:', error)"
    done = subprocess.run(
        [sys.executable, "-c", reads, str(path)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout[:9]) == (0, "refused: "), done.stderr


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_what_numpy_writes_is_read_as_it_was(tmp_path: Path, protocol: int) -> None:
    kinds = (">i4", "<f8", "u1", "?", "S3", "<U4", ">U4")
    whole = np.empty((2, 2), object)
    whole[0, 0] = {kind: np.arange(6).reshape(2, 3).astype(kind) for kind in kinds}
    whole[0, 1] = [np.float32(1.5), np.asfortranarray(np.arange(6.0).reshape(2, 3))]
    if protocol > 2:  # protocol 2 has no word for no bytes and calls a function for them
        whole[0, 1].append(np.zeros((0, 4)))
    whole[1, 0] = np.array([{"a": None}, "text"], object)
    whole[1, 1] = b"bytes"
    path = stored(tmp_path, whole)
    with path.open("r+b") as file:
        np.lib.format.read_magic(file)
        np.lib.format.read_array_header_1_0(file)
        file.truncate()
        file.write(pickle.dumps(whole, protocol))
    found = read_object_array(path)
    assert found.shape == (2, 2)
    for kind, array in whole[0, 0].items():
        np.testing.assert_array_equal(found[0, 0][kind], array)
    for ours, theirs in zip(found[0, 1], whole[0, 1], strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert found[1, 0].tolist() == [{"a": None}, "text"]
    assert found[1, 1] == b"bytes"


def test_a_frame_that_is_no_plain_thing_is_refused(tmp_path: Path) -> None:
    odd = frames()
    odd[0]["extra"] = np.array([1 + 2j])
    stored(tmp_path, odd)
    with pytest.raises(ManifestError, match="only arrays, dictionaries, texts and numbers"):
        convert(tmp_path, numpy_objects=True)


def test_a_reward_model_becomes_safetensors_and_a_program_in_it_is_not_run(tmp_path: Path) -> None:
    torch.save({"fc.weight": torch.ones(1, 512)}, tmp_path / "resnet_rm.pth")
    (written,) = convert(tmp_path, numpy_objects=False)
    assert load_file(written)["fc.weight"].sum() == 512
    torch.save({"fc.weight": Program(tmp_path / "run")}, tmp_path / "resnet_rm.pth")
    with pytest.raises(ManifestError, match="tensors only"):
        convert(tmp_path, numpy_objects=False)
    assert not (tmp_path / "run").exists()


def stored_with(folder: Path, content: bytes) -> Path:
    """Write a first frame that is there and whole, then put `content` in place of it."""
    stored(folder, frames())
    (path,) = convert(folder, numpy_objects=True)
    path.write_bytes(content)
    return path


def test_a_damaged_first_frame_is_named(tmp_path: Path) -> None:
    np.save(tmp_path / "array.npy", np.zeros(3))
    path = stored_with(tmp_path, b"")
    for content in (b"", (tmp_path / "array.npy").read_bytes()):
        path.write_bytes(content)
        with pytest.raises(ManifestError, match=r"traj0\.npz: not a stored start"):
            load_starts(tmp_path)
    image = np.zeros((1, 8, 8, 3), np.uint8)
    np.savez(path, image=image, instruction=np.array("push"), init_id=np.arange(2))
    with pytest.raises(ManifestError, match=r"traj0\.npz: not a stored start"):
        load_starts(tmp_path)


def test_a_folder_in_brackets_is_named_whole(tmp_path: Path) -> None:
    folder = tmp_path / "model [old]"
    folder.mkdir()
    stored(folder, frames())
    result = CliRunner().invoke(app, ["convert", str(folder), "--numpy-objects"])
    assert f"{folder}: 1 files written" in result.output


def test_nothing_to_convert_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="nothing to convert"):
        convert(tmp_path, numpy_objects=True)
