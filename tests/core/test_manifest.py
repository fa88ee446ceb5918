"""Manifests: the seed loads, and each sort of fault is one line that names file, line, key and fix."""

from __future__ import annotations

import copy
import random
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from example_skill import MANIFEST, SEED

from openral_core.errors import ManifestError
from openral_core.files.share import share_directory
from openral_core.manifest import load_manifest

LINE = re.compile(r"^.+:\d+: .+: .+; .+$")


def fault_of(path: Path, text: str | bytes) -> str:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ManifestError) as caught:
        load_manifest(path)
    for line in str(caught.value).splitlines():
        assert LINE.match(line), line
    return str(caught.value)


def test_seed_loads_as_it_is() -> None:
    manifest = load_manifest(SEED)
    assert manifest.name == "OpenRAL/rskill-smolvla-metaworld"
    assert manifest.short_name == "smolvla-metaworld"
    assert manifest.is_commercial_use_allowed
    assert manifest.replay_steps == manifest.chunk_size == 16
    assert manifest.action_contract is not None
    assert manifest.action_contract.dim == 4
    assert manifest.benchmarks == {"metaworld_mt50": 0.3}


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("chunk_size: 16", "chunk_sise: 16", 17, "chunk_sise: unknown key; did you mean 'chunk_size'?"),
        ("kind: vla", "kind: vlaa", 4, "did you mean 'vla'?"),
        ("chunk_size: 16", "chunk_size: '16'", 17, "chunk_size: '16'"),
        ("chunk_size: 16", "chunk_size: true", 17, "write a whole number"),
        ("per_chunk_ms: 50", "per_chunk_ms: .inf", 19, "write a finite number"),
        ("n_action_steps: 4", "n_action_steps: 25", 18, "n_action_steps: 25 is more than chunk_size 16"),
        ("local://model", "local://../model", 13, "leaves the manifest's folder"),
        ("local://model", "https://model", 13, "weights_uri"),
        ("model_family: mini\n", "", 1, "model_family: is missing for kind vla; add it"),
        ("kind: vla", "kind: reward", 1, "reward: is missing for kind reward; add it"),
        ("layout: ee_pos3_gripper1, dim: 4", "layout: ee_pos3_gripper1, dim: 5", 15, "dim: 5, but"),
        ("[sawyer]", "[custom]", 1, "embodiment_extra"),
        (
            "[sawyer]",
            "[custom]\nembodiment_extra:\n  sensors: [{modality: rgb}]\n  actuators:\n    - kind: joint_position\n"
            "      control_mode_semantics: {mode: absolute}",
            11,
            "embodiment_extra.actuators[0].n_dof: is missing for a custom embodiment; add it",
        ),
        ("model_family: mini", "model_family: smolvla", 1, "processors: is missing for family smolvla"),
        (
            "min_width: 64",
            "min_widht: 64",
            9,
            "sensors_required[0].min_widht: unknown key; did you mean 'min_width'?",
        ),
        ("chunk_size: 16", "chunk_size: 16\nchunk_size: 8", 18, "written twice, first on line 17; keep one"),
        ("chunk_size: 16", "chunk_size: !!python/name:os.system ''", 17, "tag"),
        ("[sawyer]", "&a [sawyer]", 7, "anchors and aliases are refused"),
        ("actions: [open]", "actions: [ope]", 20, "did you mean 'open'?"),
        ("actions: [open]", "actions: open", 20, "'open' is not a list; write [open]"),
        ("apache-2.0", "Apache-2.0", 3, "did you mean 'apache-2.0'?"),
        ("kind: vla", "schema_version: 0.1\nkind: vla", 4, "0.1 is a number, needed text; put it in quotes"),
        ("actions: [open]", "\tactions: [open]", 20, "indent by spaces"),
        ("actuators_required:", "actuators_required", 11, "the colon is missing there or on the line before"),
        ('"Opens things."', "opens: things", 6, "put text that holds one in quotes"),
        ("flip_180: false", "image_size: [96, 100000]", 14, "image_size[1]: 100000: input should be less"),
        ("chunk_size: 16", "chunk_size 16", 18, "the colon is missing there or on the line before"),
    ],
)
def test_fault_names_line_key_and_fix(tmp_path: Path, old: str, new: str, line: int, words: str) -> None:
    path = tmp_path / "rskill.yaml"
    assert old in MANIFEST
    text = fault_of(path, MANIFEST.replace(old, new, 1))
    row = next(row for row in text.splitlines() if words in row)
    assert row.startswith(f"{path}:{line}: ")


def test_several_faults_are_several_lines(tmp_path: Path) -> None:
    text = MANIFEST.replace("chunk_size: 16", "chunk_size: -1").replace("kind: vla", "kind: x")
    assert len(fault_of(tmp_path / "rskill.yaml", text).splitlines()) == 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "- a\n- b\n",
        "just words",
        b"\xff\xfe\x00",
        "a: \x00",
        "[" * 5000,
        "a: {" * 200,
        "- " * 1000 + "a",
        "x: [" + "1," * 30_000 + "1]",
        "x" * 400_000,
        "a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]",
        "a: 1\n--- \nb: 2",
        "? [a, b]\n: c",
        "<<: {a: 1}",
        "a: 'unfinished",
        "\t- tab",
        "a: " + "9" * 5000,
    ],
)
def test_what_is_no_manifest_is_refused(tmp_path: Path, text: str | bytes) -> None:
    fault_of(tmp_path / "rskill.yaml", text)


def test_missing_file_and_links_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="No such file"):
        load_manifest(tmp_path / "rskill.yaml")
    outside = tmp_path / "outside.yaml"
    outside.write_text(MANIFEST)
    folder = tmp_path / "skill"
    folder.mkdir()
    (folder / "rskill.yaml").symlink_to(outside)
    with pytest.raises(ManifestError, match="link that leaves its folder"):
        load_manifest(folder)
    (folder / "rskill.yaml").unlink()
    (folder / "rskill.yaml").write_text(MANIFEST)
    (folder / "model.safetensors").symlink_to(tmp_path / "elsewhere.safetensors")
    with pytest.raises(ManifestError, match="leaves the manifest's folder"):
        load_manifest(folder)


JUNK: list[Any] = [
    None,
    True,
    -1,
    0,
    1e308,
    float("nan"),
    float("-inf"),
    "",
    "x" * 500,
    "../../etc/passwd",
    "{{}} {a} %s",
    "\u202e☃",
    [],
    [[]],
    {},
    {"a": {"b": [1]}},
    ["local://..", 3],
    "hf://a",
    "2026-01-01",
    10**17,
    "rgb",
    {"": None},
]


def places(value: Any) -> list[tuple[Any, Any]]:
    """Return every (container, key) of a nested value."""
    found: list[tuple[Any, Any]] = []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in list(items):
        found.append((value, key))
        found += places(item)
    return found


def mutate(random_: random.Random, data: dict[str, Any]) -> str:
    """Return YAML text of `data` with one to three faults."""
    for _ in range(random_.randint(1, 3)):
        spots = places(data)
        if not spots:
            break
        container, key = random_.choice(spots)
        kind = random_.choice(["delete", "rename", "retype", "copy", "nest"])
        if kind == "delete":
            del container[key]
        elif kind == "rename" and isinstance(container, dict):
            container[str(key)[:-1] + random_.choice("sxz_ .")] = container.pop(key)
        elif kind == "copy":
            other, name = random_.choice(spots)
            container[key] = yaml.safe_load(yaml.safe_dump(other[name])) if name in _keys(other) else None
        elif kind == "nest":
            container[key] = {key: container[key]} if random_.random() < 0.5 else [container[key]] * 3
        else:
            container[key] = random_.choice(JUNK)
    text: str = yaml.safe_dump(data, allow_unicode=True)
    if random_.random() < 0.3:
        cut = random_.randrange(len(text) + 1)
        text = (
            text[:cut]
            + random_.choice(["", "\x07", "&a *a", "!!python/object:x {}", "'", "\n\t", "[{", "%"])
            + text[cut:]
        )
    return text


def _keys(container: Any) -> Any:
    return container if isinstance(container, dict) else range(len(container))


def test_many_mutated_manifests_give_manifest_errors_only(tmp_path: Path) -> None:
    random_ = random.Random(20)
    shipped = share_directory() / "rskills"
    others = [
        (shipped / name / "rskill.yaml").read_text() for name in ("rldx1-ft-libero-nf4", "robometer-4b-nf4")
    ]
    originals = [yaml.safe_load(text) for text in (SEED.read_text(), MANIFEST, *others)]
    path = tmp_path / "rskill.yaml"
    refused, shapeless = 0, []
    for index in range(120):
        path.write_text(mutate(random_, copy.deepcopy(originals[index % len(originals)])))
        try:
            load_manifest(path)
        except ManifestError as error:
            refused += 1
            shapeless += [row for row in str(error).splitlines() if not LINE.match(row)]
    assert shapeless == []
    assert refused > 84
