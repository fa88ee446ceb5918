"""Plain weights on a skeleton; packed ones need bitsandbytes and are tested in tests/sidecars."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from openral_core.errors import PolicyError
from openral_rskill.nf4.load import load_checkpoint


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(6, 4)
        self.norm = nn.BatchNorm1d(4)
        self.head = nn.Linear(4, 6, bias=False)
        self.register_buffer("frequencies", torch.arange(3.0), persistent=False)
        self.tie_weights()

    def tie_weights(self) -> None:
        self.head.weight = self.embedding.weight


def skeleton() -> Model:
    """What accelerate's init_empty_weights(include_buffers=False) makes: meta parameters, real buffers."""
    model = Model()
    for part in model.modules():
        for name, value in part._parameters.items():
            if value is not None:
                part._parameters[name] = nn.Parameter(value.to("meta"))
    return model


def state() -> dict[str, Tensor]:
    torch.manual_seed(0)
    values = {name: torch.rand_like(value.float()) for name, value in Model().state_dict().items()}
    del values["head.weight"]
    return values


def test_shards_fill_a_skeleton_and_ties_are_made_again(tmp_path: Path) -> None:
    values = state()
    names = sorted(values)
    files = [tmp_path / "one.safetensors", tmp_path / "two.safetensors"]
    save_file({name: values[name] for name in names[:2]}, files[0])
    save_file({name: values[name] for name in names[2:]}, files[1])
    model = skeleton()
    assert load_checkpoint(model, files) == []
    assert model.head.weight is model.embedding.weight
    assert torch.equal(model.embedding.weight, values["embedding.weight"])
    assert torch.equal(model.norm.running_mean, values["norm.running_mean"])  # type: ignore[arg-type]
    assert torch.equal(model.frequencies, torch.arange(3.0))  # type: ignore[arg-type]
    assert not any(value.requires_grad for value in model.parameters())


def test_buffers_that_a_file_holds_win_over_computed_ones(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    save_file({**state(), "frequencies": torch.full((3,), 7.0)}, path)
    model = skeleton()
    load_checkpoint(model, [path])
    assert torch.equal(model.frequencies, torch.full((3,), 7.0))  # type: ignore[arg-type]


def test_values_take_the_dtype_of_the_model(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    save_file({name: value.to(torch.float64) for name, value in state().items()}, path)
    model = skeleton()
    load_checkpoint(model, [path])
    assert model.embedding.weight.dtype == torch.float32


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"norm.bias": None}, "1 tensors are missing, norm.bias the first"),
        ({"norm.bias": torch.zeros(5)}, r"norm.bias is \(5,\), this model needs \(4,\)"),
        ({"other.bias": torch.zeros(5)}, "other is not in this model"),
        ({"norm.other": torch.zeros(5)}, "norm.other is not in this model"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(
    tmp_path: Path, change: dict[str, Tensor | None], message: str
) -> None:
    path = tmp_path / "model.safetensors"
    values = {**state(), **change}
    save_file({name: value for name, value in values.items() if value is not None}, path)
    with pytest.raises(PolicyError, match=message):
        load_checkpoint(skeleton(), [path])


def test_a_name_in_two_files_is_refused(tmp_path: Path) -> None:
    files = [tmp_path / "one.safetensors", tmp_path / "two.safetensors"]
    for path in files:
        save_file(state(), path)
    with pytest.raises(PolicyError, match=r"two\.safetensors: embedding\.weight is in another file too"):
        load_checkpoint(skeleton(), files)


def test_a_torn_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    save_file(state(), path)
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(PolicyError, match="no whole safetensors file"):
        load_checkpoint(skeleton(), [path])
