"""Weights that lie about themselves, and things that are no files: one line each, no wait, and flat memory."""

from __future__ import annotations

import json
import os
import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from example_skill import MANIFEST, write_safetensors, write_skill
from openral_commands import Ran, openral_commands
from typer.testing import CliRunner

from openral_cli.app import app
from openral_core.errors import OpenralError
from openral_rskill.registry import load_package
from openral_rskill.safetensors_check import weights_fault

MEMORY = 4 * 2**30
"""[byte] of address space that a refusal may take, torch's libraries included."""
HUGE = {"w": {"dtype": "F32", "shape": [10**9, 10**9], "data_offsets": [0, 8]}}


def packed(header: Any, data: int = 8, length: int | None = None) -> bytes:
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(raw) if length is None else length) + raw + bytes(data)


def tensor(begin: object, end: object, shape: object = (2,), dtype: str = "F32") -> dict[str, object]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


LIES: dict[str, tuple[bytes, str]] = {
    "shape": (packed(HUGE), "of shape [1000000000, 1000000000] has 8 bytes, not 4000000000000000000"),
    "beyond": (packed({"w": tensor(0, 4 * 10**9, (10**9,))}), "lacks 3999999992 bytes at its end"),
    "negative": (packed({"w": tensor(-8, 0)}), "broken safetensors header"),
    "negative shape": (packed({"w": tensor(0, 8, (-2,))}), "broken safetensors header"),
    "backwards": (packed({"w": tensor(8, 0)}), "has -8 bytes, not 8"),
    "overlap": (
        packed({"a": tensor(0, 8), "b": tensor(4, 12)}, 12),
        "begins at byte 4, the one before it ends at 8",
    ),
    "hole": (
        packed({"a": tensor(0, 8), "b": tensor(12, 20)}, 20),
        "begins at byte 12, the one before it ends at 8",
    ),
    "rest": (packed({"w": tensor(0, 8)}, 100), "has 92 bytes that belong to no tensor"),
    "fraction": (packed({"w": tensor(0, 8, (2.0,))}), "broken safetensors header"),
    "nan": (packed(b'{"w":{"dtype":"F32","shape":[NaN],"data_offsets":[0,8]}}'), "broken safetensors header"),
    "type": (packed({"w": tensor(0, 8, (2,), "F1024")}), "broken safetensors header"),
    "twice": (packed(b'{"w":{},"w":{}}'), "broken safetensors header"),
    "many dimensions": (packed({"w": tensor(0, 8, (1,) * 1000)}), "broken safetensors header"),
    "header beyond the file": (packed(HUGE, length=2**40), "is not safetensors, or cut short"),
    "header of 2^64 - 1": (packed(HUGE, length=2**64 - 1), "is not safetensors, or cut short"),
    "deep": (packed(b"[" * 10**6), "broken safetensors header"),
    "bomb": (packed(b'{"a":[' + b"[]," * 3 * 10**6 + b"[]]}"), "broken safetensors header"),
    "list": (packed(b"[1, 2]"), "broken safetensors header"),
    "no text": (packed(b"\xff\xfe\x00"), "broken safetensors header"),
}


@pytest.mark.parametrize("name", LIES)
def test_a_lie_is_one_line(name: str, tmp_path: Path) -> None:
    content, text = LIES[name]
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    fault = weights_fault(path)
    assert fault is not None
    assert text in fault
    assert len(fault) < 300


def test_a_header_of_a_gigabyte_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(struct.pack("<Q", 2**30))
    os.truncate(path, 2**30 + 100)
    assert "header of 1073741824 bytes, more than" in str(weights_fault(path))


def test_what_the_library_writes_is_taken(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from safetensors.torch import save_file

    kinds = [torch.bool, torch.uint8, torch.int16, torch.float16, torch.bfloat16, torch.float32, torch.int64]
    tensors = {
        f"{kind}.{shape}": torch.zeros(shape).to(kind) for kind in kinds for shape in ((), (0, 3), (2, 3))
    }
    save_file(tensors, tmp_path / "model.safetensors", {"of": "a test"})
    assert weights_fault(tmp_path / "model.safetensors") is None


@pytest.mark.parametrize("count", [300, pytest.param(3_000, marks=pytest.mark.slow)])
def test_whatever_passes_can_be_loaded(count: int, tmp_path: Path) -> None:
    """Many damaged headers: the library takes no fewer of them than openral does."""
    pytest.importorskip("torch")
    from safetensors import safe_open

    rng, path = random.Random(count), tmp_path / "model.safetensors"
    whole = packed({"a": tensor(0, 8), "b": tensor(8, 24, (2, 2))}, 24)
    passed = 0
    for _ in range(count):
        damaged = bytearray(whole)
        for _ in range(rng.randint(1, 3)):
            damaged[rng.randrange(len(damaged) - 24)] = rng.choice(b'0123456789[]{},:"-. abF')
        path.write_bytes(damaged)
        if weights_fault(path) is None:
            passed += 1
            with safe_open(path, "pt") as file:
                for name in file.keys():  # noqa: SIM118  it is no dictionary
                    file.get_tensor(name)
    assert 0 < passed < count


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def make_folder(path: Path) -> None:
    path.mkdir()


NO_FILES: list[Callable[[Path], None]] = [make_pipe, make_device, make_folder]


SIM_RUN = ("sim", "run", "--no-save-video", "--instruction", "open", "--rskill")
URIS = ("local://model.safetensors", "local://checkpoint")
VERBS = (("rskill", "check"), ("rskill", "show"), ("rskill", "install"), SIM_RUN)


def skill_of_no_file(folder: Path, make: Callable[[Path], None], uri: str) -> Path:
    """Write a skill whose weights are a pipe, a device or a folder."""
    write_skill(folder)
    (folder / "model.safetensors").unlink()
    (folder / "rskill.yaml").write_text(MANIFEST.replace("local://model.safetensors", uri))
    if uri.endswith("checkpoint"):
        (folder / "checkpoint").mkdir()
        write_safetensors(folder / "checkpoint" / "model-2.safetensors")
        make(folder / "checkpoint" / "model.safetensors")
    else:
        make(folder / "model.safetensors")
    return folder


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], list[Ran]]:
    """What became of each command on each of the skills."""
    folder = tmp_path_factory.mktemp("skills")
    skills = {
        f"{make.__name__} {uri}": skill_of_no_file(folder / f"{make.__name__}{place}", make, uri)
        for make in NO_FILES
        for place, uri in enumerate(URIS)
    }
    skills["shape"] = write_skill(folder / "shape")
    (skills["shape"] / "model.safetensors").write_bytes(LIES["shape"][0])
    words = [(*verb, str(skill)) for skill in skills.values() for verb in VERBS]
    done = iter(openral_commands(*words, most_memory=MEMORY, CUDA_VISIBLE_DEVICES=""))
    told = {name: [next(done) for _ in VERBS] for name in skills}
    return told.__getitem__


@pytest.mark.parametrize("make", NO_FILES, ids=lambda make: make.__name__)
@pytest.mark.parametrize("uri", URIS)
def test_what_is_no_file_is_refused_at_once(
    ran: Callable[[str], list[Ran]], make: Callable[[Path], None], uri: str
) -> None:
    checked, shown, *refused = ran(f"{make.__name__} {uri}")
    assert checked.code == 1, checked
    assert "Traceback" not in checked.err
    assert "model.safetensors" in checked.out + checked.err
    assert "Traceback" not in shown.err
    for done in refused:
        assert done.code == 1, done
        assert done.err.startswith("error: ")
        assert done.err.count("\n") == 1, done.err


@pytest.mark.parametrize("name", ["config.json", "model.safetensors.index.json", "x.bin"])
def test_a_pipe_beside_the_weights_is_refused_too(skill_folder: Path, name: str) -> None:
    (skill_folder / "checkpoint").mkdir()
    write_safetensors(skill_folder / "checkpoint" / "model.safetensors")
    make_pipe(skill_folder / "checkpoint" / name)
    (skill_folder / "rskill.yaml").write_text(MANIFEST.replace("model.safetensors", "checkpoint"))
    with pytest.raises(OpenralError, match="is a pipe or a device"):
        load_package(skill_folder).checkpoint()


def test_a_pipe_as_manifest_is_refused(skill_folder: Path) -> None:
    (skill_folder / "rskill.yaml").unlink()
    make_pipe(skill_folder / "rskill.yaml")
    with pytest.raises(OpenralError, match=r"rskill.yaml"):
        load_package(skill_folder)


def test_a_lying_shape_is_one_line_of_check_and_of_sim_run(ran: Callable[[str], list[Ran]]) -> None:
    checked, _, _, run = ran("shape")
    assert checked.code == 1, checked
    assert "lies: tensor 'w'" in checked.out
    assert run.code == 1
    assert run.err.startswith("error: ")
    assert "lies: tensor 'w' of shape [1000000000, 1000000000]" in run.err
    assert run.err.count("\n") == 1, run.err


def test_without_a_lock_hashes_are_not_vouched_for(skill_folder: Path) -> None:
    words = ["rskill", "check", str(skill_folder), "--scene", "metaworld_drawer", "--device", "cpu"]
    run = CliRunner().invoke(app, words)
    assert run.exit_code == 0, run.output
    run = CliRunner().invoke(app, [*words, "--hashes"], env={"COLUMNS": "250"})
    assert run.exit_code == 1
    assert "not hashed: no rskill.lock says what the weights were" in run.output
