"""Plain weights on a skeleton; packed ones need bitsandbytes and are tested in tests/sidecars."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from openral_core.errors import PolicyError
from openral_rskill.nf4 import load
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


def peak_resident_bytes() -> int:
    """Return the most memory that this process had since `forget_peak`, pages of mapped files included."""
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(lines["VmHWM"].split()[0]) * 1024


def forget_peak() -> None:
    ctypes.CDLL(None).malloc_trim(0)  # what earlier tests have freed; the C library gives it back at any time
    Path("/proc/self/clear_refs").write_text("5")  # proc(5): resets the peak to what is resident now


@pytest.mark.slow
def test_a_file_that_was_read_does_not_stay_in_the_hosts_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tensors that are cast go elsewhere, as they do on their way to a GPU."""
    layers, width, piece = 24, 2048, 2 * 2048**2
    plain = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(layers)).to(torch.bfloat16)
    save_file(plain.state_dict(), tmp_path / "model.safetensors")
    del plain
    peaks = []
    for mapped in (4 * piece, 1000 * piece):
        monkeypatch.setattr(load, "MAPPED", mapped)
        with torch.device("meta"):
            model = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(layers)).half()
        forget_peak()
        load_checkpoint(model, [tmp_path / "model.safetensors"])
        peaks.append(peak_resident_bytes())
        assert all(value.dtype == torch.float16 for value in model.parameters())
        del model
    # The result takes the same in either case; of the file four or five tensors are mapped at a time, or all.
    assert (peaks[1] - peaks[0]) / piece > layers - 8
