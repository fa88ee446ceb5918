"""Files of strangers and ways round a licence: commands refuse them in a line."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import yaml
from faults_commands import run
from faults_files import SKILL
from system_files import EMPTY_SAFETENSORS

from openral_rskill.license import OPT_INS

GOOD = yaml.safe_dump({"name": "tests/rskill-good", "model_family": "fake", **SKILL})
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{now}: &{now} [{', '.join(['*' + before] * 9)}]\n"
    for before, now in zip("abcdefgh", "bcdefghi", strict=True)
)
HOSTILE = {
    "a bomb of aliases": BOMB,
    "an unknown key": GOOD + "no_such_key: 1\n",
    "a wrong unit": GOOD.replace("per_chunk_ms: 50.0", "per_chunk_ms: 50 s"),
    "a path out of its folder": GOOD.replace("local://model.safetensors", "local://../../etc/passwd"),
    "a key twice": GOOD + "license: mit\n",
    "a tag that makes an object": GOOD + "policy_extras: !!python/object/apply:os.system ['true']\n",
    "a list": "- 1\n",
    "a depth of a thousand": "[" * 1000 + "]" * 1000,
    "bytes that are no text": "\udcff\udcfe",
    "numbers that are none": GOOD.replace("chunk_size: 16", "chunk_size: .nan"),
}
MOST_MB = 200.0


def write_skill(folder: Path, text: str, weights: bytes = EMPTY_SAFETENSORS) -> Path:
    """Write a skill's folder."""
    folder.mkdir(parents=True)
    (folder / "rskill.yaml").write_bytes(text.encode(errors="surrogateescape"))
    (folder / "model.safetensors").write_bytes(weights)
    return folder


def test_hostile_manifests_are_refused_in_a_line(tmp_path: Path, figure: Any) -> None:
    ran = {}
    for index, (name, text) in enumerate(HOSTILE.items()):
        ran[name] = run(
            "openral", "rskill", "check", str(write_skill(tmp_path / f"{index}", text)), "--device", "cpu"
        )
    outside = write_skill(tmp_path / "outside", GOOD)
    linked = write_skill(tmp_path / "linked", GOOD)
    (linked / "rskill.yaml").unlink()
    (linked / "rskill.yaml").symlink_to(outside / "rskill.yaml")
    ran["a link out of its folder"] = run("openral", "rskill", "check", str(linked), "--device", "cpu")
    for name, each in ran.items():
        assert each.code not in (0, None), f"{name}: {each.said}"
        assert "Traceback" not in each.said, f"{name}: {each.said}"
        assert "rskill.yaml" in each.said, f"{name}: {each.said}"
        assert each.peak_mb < MOST_MB, f"{name}: {each.peak_mb:.0f} MiB"
    figure(
        row=16,
        injected=", ".join(ran),
        times=len(ran),
        happened=f"each refused by file and line, {max(each.peak_mb for each in ran.values()):.0f} MiB at most",
        worst=max(each.seconds for each in ran.values()),
        unit="s",
        bar="1 s, 200 MB, 0 tracebacks",
    )


def test_weights_that_are_no_tensors_are_refused(tmp_path: Path, figure: Any) -> None:
    marker = tmp_path / "executed"
    payload = f"cos\nsystem\n(S'touch {marker}'\ntR.".encode()
    pickles = {
        "a pickle by another name": payload,
        "a pickle of today": pickle.dumps({"weights": [1.0]}),
        "a file cut short": (1 << 20).to_bytes(8, "little") + b'{"w": {',
        "a header of an exabyte": (1 << 60).to_bytes(8, "little") + b"{}",
        "a shape that lies": (79).to_bytes(8, "little")
        + b'{"w":{"dtype":"F32","shape":[1000000000,1000000000],"data_offsets":[0,16]}}'.ljust(79)
        + bytes(16),
    }
    for index, (name, weights) in enumerate(pickles.items()):
        folder = write_skill(tmp_path / f"{index}", GOOD, weights)
        ran = run("openral", "rskill", "check", str(folder), "--device", "cpu")
        assert ran.code != 0, f"{name}: {ran.said}"
        assert "Traceback" not in ran.said, f"{name}: {ran.said}"
        assert ran.peak_mb < MOST_MB, f"{name}: {ran.peak_mb:.0f} MiB"
    assert not marker.exists(), "the pickle was executed"
    figure(
        row=17,
        injected=", ".join(pickles),
        times=len(pickles),
        happened="each refused, nothing was executed",
        bar="safetensors only",
    )


def test_no_door_lets_a_licence_pass(tmp_path: Path, figure: Any) -> None:
    """The doors of the command line; those of the Python API are in tests/rskill/test_license_gate.py."""
    skill = "rldx1-ft-libero-nf4"
    alias = tmp_path / "alias"
    alias.mkdir()
    source = Path(__file__).parents[3] / "rskills" / skill / "rskill.yaml"
    content = yaml.safe_load(source.read_text()) | {"name": "me/rskill-mine", "license": "apache-2.0"}
    (alias / "rskill.yaml").write_text(yaml.safe_dump(content))
    (tmp_path / "link").symlink_to(source.parent)
    doors: list[tuple[tuple[str, ...], dict[str, str]]] = [
        (("rskill", "install", skill), {}),
        (("rskill", "install", skill), {OPT_INS[0]: "0"}),
        (("rskill", "install", skill), {OPT_INS[0]: "true"}),
        (("rskill", "install", str(alias)), {}),
        (("rskill", "install", str(tmp_path / "link")), {}),
        (("sidecar", "start", "rldx", "--", "--model", "RLWRLD/RLDX-1-FT-LIBERO"), {}),
        (("deploy", "sim", "--config", "libero_goal", "--no-video", "--run-dir", str(tmp_path / "run")), {}),
    ]
    clean = dict.fromkeys(OPT_INS, "") | {
        "OPENRAL_CACHE_HOME": str(tmp_path / "cache"),
        "HF_HUB_OFFLINE": "1",
    }
    for words, variables in doors:
        ran = run("openral", *words, cwd=tmp_path, **{**clean, **variables})
        assert ran.code != 0, (words, variables, ran.said)
        said = " ".join(ran.said.split())
        assert "does not allow commercial use" in said, (words, variables, ran.said)
        assert "OPENRAL_ACCEPT_NONCOMMERCIAL=1" in said, (words, variables, ran.said)
    figure(
        row=18,
        injected="install, alias, link, sidecar and deployment without acceptance, and with 0 and true",
        times=len(doors),
        happened="all refused with the same message",
        bar="all refused",
    )
