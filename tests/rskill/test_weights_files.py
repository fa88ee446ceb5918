"""Pickles are refused whatever they are called, and one command turns the harmless ones into safetensors."""

from __future__ import annotations

import json
import os
import pickle
import re
from pathlib import Path

import pytest
from example_skill import MANIFEST, write_safetensors

from openral_core.errors import NotFoundError, WeightsError
from openral_rskill.hub.pickle_to_safetensors import convert
from openral_rskill.hub.pickle_to_safetensors_child import main as convert_here
from openral_rskill.registry import load_package
from openral_rskill.weights_files import checkpoint_faults, select

torch = pytest.importorskip("torch")


class Evil:
    """What a pickle can do: this one makes a file when it is opened."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize(
    "name", ["model.pt", "model.bin", "model.pth", "model.ckpt", "model.pkl", "model.safetensors"]
)
@pytest.mark.parametrize("how", ["torch", "torch-old", "pickle"])
def test_a_pickle_is_refused_by_name_and_by_content(skill_folder: Path, name: str, how: str) -> None:
    path = skill_folder / name
    path.unlink(missing_ok=True)
    if how == "pickle":
        path.write_bytes(pickle.dumps(Evil(skill_folder / "evil")))
    else:
        torch.save({"w": torch.zeros(2)}, path, _use_new_zipfile_serialization=how == "torch")
    (skill_folder / "rskill.yaml").write_text(MANIFEST.replace("model.safetensors", name))
    package = load_package(skill_folder)
    for read in (package.weights_path, package.checkpoint):
        with pytest.raises(
            WeightsError, match=rf"is a pickle.*openral rskill convert {path.resolve()} .*\.safetensors$"
        ):
            read()
    assert not (skill_folder / "evil").exists()


def test_a_folder_of_pickles_names_the_conversion(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x02.")
    assert checkpoint_faults(tmp_path) == [
        f"pytorch_model.bin is a pickle, which can run code when it is opened; "
        f"openral rskill convert {tmp_path}/pytorch_model.bin {tmp_path}/pytorch_model.safetensors"
    ]
    write_safetensors(tmp_path / "model.safetensors")
    assert checkpoint_faults(tmp_path) == []  # the pickle beside it is never opened


@pytest.mark.parametrize(
    ("index", "fault"),
    [
        (
            '{"weight_map": {"w": "pytorch_model.bin"}}',
            "pytorch_model.bin, named by .*, is not safetensors; ",
        ),
        ('{"weight_map": {"w": "../other/model.safetensors"}}', ", lies outside of its folder; "),
        ('{"weight_map": {"w": "/other/model.safetensors"}}', ", lies outside of its folder; "),
        ('{"weight_map": {"w": "model-2.safetensors"}}', ", is not there; "),
        ("[" * 100_000, "is no index of shards; "),
    ],
)
def test_an_index_names_whole_safetensors_of_its_own_folder(tmp_path: Path, index: str, fault: str) -> None:
    folder = tmp_path / "checkpoint"
    for path in (folder, tmp_path / "other"):
        path.mkdir()
        write_safetensors(path / "model.safetensors")
    (folder / "pytorch_model.bin").write_bytes(b"\x80\x02.")
    (folder / "model.safetensors.index.json").write_text(index)
    (found,) = checkpoint_faults(folder)
    assert re.search(fault, found)


def test_only_what_makes_a_checkpoint_is_fetched() -> None:
    wanted = ["LICENSE", "config.json", "model.safetensors", "vlm/tokenizer.json"]
    others = [
        "README.md",
        "model.bin",
        "modeling.py",
        ".gitattributes",
        "optimizer.safetensors",
        "a/../b.json",
    ]
    names = [*wanted, *others, "training_state/optimizer.safetensors"]
    assert select(names) == wanted
    with pytest.raises(WeightsError, match="openral rskill convert"):
        select(["model.bin"])
    with pytest.raises(WeightsError, match="no safetensors"):
        select(["config.json"])


def test_tensors_are_converted(tmp_path: Path) -> None:
    from safetensors.torch import load_file

    tied = torch.arange(6.0).reshape(2, 3)
    torch.save(
        {"epoch": 3, "state_dict": {"a": tied, "b": tied, "c": tied.T, "d": torch.ones(1).bfloat16()}},
        tmp_path / "in.pt",
    )
    (tmp_path / "out").mkdir()
    assert convert_here(str(tmp_path / "in.pt"), str(tmp_path / "out" / "model.safetensors")) is None
    made = load_file(tmp_path / "out" / "model.safetensors")
    assert sorted(made) == ["a", "b", "c", "d"]
    assert torch.equal(made["c"], tied.T)
    assert made["d"].dtype == torch.bfloat16
    with pytest.raises(WeightsError, match="is there already"):
        convert(tmp_path / "in.pt", tmp_path / "out" / "model.safetensors")
    with pytest.raises(WeightsError, match="does not end with"):
        convert(tmp_path / "in.pt", tmp_path / "model.bin")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"w": torch.zeros(2), "head": {"w": torch.ones(2)}}, "tensors further inside, in 'head'"),
        ({"state_dict": {"w": torch.zeros(2), "layers": [torch.ones(2)]}}, "further inside, in 'layers'"),
        ({"encoder": {"w": torch.ones(2)}}, "tensors further inside, in 'encoder'"),
        (
            {"model": {"w": torch.zeros(2)}, "policy": {"w": torch.ones(2)}},
            "tensors in 'model' and in 'policy'",
        ),
    ],
)
def test_a_conversion_leaves_no_tensor_out_without_a_word(
    tmp_path: Path, content: dict[str, object], words: str
) -> None:
    torch.save(content, tmp_path / "in.pt")
    said = convert_here(str(tmp_path / "in.pt"), str(tmp_path / "model.safetensors"))
    assert words in (said or "")
    assert not (tmp_path / "model.safetensors").exists()


def test_the_settings_and_the_optimiser_beside_the_weights_are_left_out(tmp_path: Path) -> None:
    from safetensors.torch import load_file

    beside = {"optimizer": {"state": [torch.ones(3)]}, "policy": {"name": "act"}, "hyper": {"width": [3]}}
    torch.save({"model": {"w": torch.zeros(2), "version": {"number": 1}}, **beside}, tmp_path / "in.pt")
    assert convert_here(str(tmp_path / "in.pt"), str(tmp_path / "model.safetensors")) is None
    assert sorted(load_file(tmp_path / "model.safetensors")) == ["w"]


def test_shards_are_converted_with_their_index_and_what_a_trainer_left_beside_them_is_not(
    tmp_path: Path,
) -> None:
    source, target = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    shard = "pytorch_model-00001-of-00001.bin"
    torch.save({"w": torch.zeros(2)}, source / shard)
    index = {"metadata": {}, "weight_map": {"w": shard}}
    (source / "config.json").write_text("{}")
    for text in ("[" * 100_000, "{}"):
        (source / "pytorch_model.bin.index.json").write_text(text)
        with pytest.raises(WeightsError, match=r"bin\.index\.json .*fetch it again"):
            convert(source, target)
        assert not list(target.iterdir()), "before gigabytes are converted"
    (source / "pytorch_model.bin.index.json").write_text(json.dumps(index))
    torch.save(
        {"arguments": Path("runs")}, source / "training_args.bin"
    )  # an object, which only a pickle holds
    for name in ("optimizer.pt", "scheduler.pt", "rng_state.pth"):
        torch.save({"state": torch.zeros(2)}, source / name)
    names = [path.name for path in convert(source, target)]
    assert names == ["model-00001-of-00001.safetensors", "model.safetensors.index.json", "config.json"]
    assert sorted(path.name for path in target.iterdir()) == sorted(names)
    assert checkpoint_faults(target) == []


def folders_with_a_configuration(root: Path) -> tuple[Path, Path]:
    source, target = root / "in", root / "out"
    for folder in (source, target):
        folder.mkdir()
        (folder / "config.json").write_text(f'{{"of": "{folder.name}"}}')
    torch.save({"w": torch.zeros(2)}, source / "pytorch_model.bin")
    return source, target


def test_a_conversion_overwrites_nothing(tmp_path: Path) -> None:
    source, target = folders_with_a_configuration(tmp_path)
    with pytest.raises(WeightsError, match=r"out/config\.json is there already; remove it or name another"):
        convert(source, target)
    assert [path.name for path in target.iterdir()] == ["config.json"]


@pytest.mark.slow
def test_a_conversion_may_be_made_in_its_own_folder(tmp_path: Path) -> None:
    source, _ = folders_with_a_configuration(tmp_path)
    assert convert(source, source) == [source / "model.safetensors"]
    assert (source / "config.json").read_text() == '{"of": "in"}'


def test_what_needs_more_than_tensors_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "evil.pt").open("wb") as file:
        pickle.dump({"state_dict": Evil(tmp_path / "evil")}, file)
    (tmp_path / "noise.pt").write_bytes(b"PK\x03\x04 noise")
    torch.save([torch.zeros(1)], tmp_path / "list.pt")
    for name, content in (("nothing.yaml", b""), ("some.json", b"{}"), ("cut.pt", b"\x80\x02")):
        (tmp_path / name).write_bytes(content)
    for name, words in (
        ("noise.pt", "cannot be read"),
        ("list.pt", "holds no tensors by name"),
        ("nothing.yaml", "is no file that torch.save wrote"),
        ("some.json", "is no file that torch.save wrote"),
        ("cut.pt", "cannot be read"),
    ):
        said = convert_here(str(tmp_path / name), str(tmp_path / "out.safetensors")) or ""
        assert words in said
        assert "\n" not in said
    with pytest.raises(WeightsError, match="more than plain tensors") as caught:
        convert(tmp_path / "evil.pt", tmp_path / "out.safetensors")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "evil").exists()
    assert not (tmp_path / "out.safetensors").exists()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".convert")] == []
    for path in (tmp_path / "nothing.pt", tmp_path / "empty"):
        (tmp_path / "empty").mkdir(exist_ok=True)
        with pytest.raises(NotFoundError):
            convert(path, tmp_path / "out.safetensors")
