"""Weights that lie about themselves, and things that are no files: one line each, no wait, and flat memory."""

from __future__ import annotations

import json
import os
import random
import resource
import struct
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from example_skill import MANIFEST, write_safetensors
from typer.testing import CliRunner

from openral_cli.app import app
from openral_core.errors import OpenralError
from openral_rskill.registry import load_package
from openral_rskill.safetensors_check import weights_fault

PATIENCE_S = 120.0
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


def test_whatever_passes_can_be_loaded(tmp_path: Path) -> None:
    """Two thousand damaged headers: the library takes no fewer of them than openral does."""
    pytest.importorskip("torch")
    from safetensors import safe_open

    rng, path = random.Random(0), tmp_path / "model.safetensors"
    whole = packed({"a": tensor(0, 8), "b": tensor(8, 24, (2, 2))}, 24)
    passed = 0
    for _ in range(2_000):
        damaged = bytearray(whole)
        for _ in range(rng.randint(1, 3)):
            damaged[rng.randrange(len(damaged) - 24)] = rng.choice(b'0123456789[]{},:"-. abF')
        path.write_bytes(damaged)
        if weights_fault(path) is None:
            passed += 1
            with safe_open(path, "pt") as file:
                for name in file.keys():  # noqa: SIM118  it is no dictionary
                    file.get_tensor(name)
    assert 0 < passed < 2_000


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def make_folder(path: Path) -> None:
    path.mkdir()


NO_FILES: list[Callable[[Path], None]] = [make_pipe, make_device, make_folder]


PROGRAM = """
import contextlib, io, json, sys, traceback
from openral_cli.app import main
ran = []
for words in json.loads(sys.argv[1]):
    code, out, err = 0, io.StringIO(), io.StringIO()
    sys.argv = ["openral", *words]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            code = end.code
        except BaseException:
            traceback.print_exc()
    ran.append((code, out.getvalue(), err.getvalue()))
print(json.dumps(ran))
"""
"""Carries out several commands, one after another, as `openral` does."""


class Ran(NamedTuple):
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str


def commands(*several: Sequence[str]) -> list[Ran]:
    """Run openral with bounded memory, once for each command; a wait that has no end fails by its time-out."""

    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(several)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=PATIENCE_S,
        preexec_fn=bound,
        env={**os.environ, "COLUMNS": "250", "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""},
    )
    return [Ran(*one) for one in json.loads(done.stdout)]


SIM_RUN = ("sim", "run", "--no-save-video", "--instruction", "open", "--rskill")


@pytest.mark.parametrize("make", NO_FILES, ids=lambda make: make.__name__)
@pytest.mark.parametrize("uri", ["local://model.safetensors", "local://checkpoint"])
def test_what_is_no_file_is_refused_at_once(
    skill_folder: Path, make: Callable[[Path], None], uri: str
) -> None:
    (skill_folder / "model.safetensors").unlink()
    (skill_folder / "rskill.yaml").write_text(MANIFEST.replace("local://model.safetensors", uri))
    if uri.endswith("checkpoint"):
        (skill_folder / "checkpoint").mkdir()
        write_safetensors(skill_folder / "checkpoint" / "model-2.safetensors")
        make(skill_folder / "checkpoint" / "model.safetensors")
    else:
        make(skill_folder / "model.safetensors")
    verbs = (("rskill", "check"), ("rskill", "show"), ("rskill", "install"), SIM_RUN)
    checked, shown, *refused = commands(*((*verb, str(skill_folder)) for verb in verbs))
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


def test_a_lying_shape_is_one_line_of_check_and_of_sim_run(skill_folder: Path) -> None:
    (skill_folder / "model.safetensors").write_bytes(LIES["shape"][0])
    checked, run = commands(("rskill", "check", str(skill_folder)), (*SIM_RUN, str(skill_folder)))
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
