from __future__ import annotations

import json
from pathlib import Path

import pytest

from openral_core.errors import PolicyError
from openral_rskill.nf4.metadata import FILE, check_metadata, write_metadata


def test_what_is_written_fits_the_weights_it_speaks_of_and_no_others(tmp_path: Path) -> None:
    check_metadata(tmp_path, ["a"])  # no file, nothing to compare
    write_metadata(tmp_path, ["a", "b"], min_numel=4096, versions={"torch": "2"}, source_repo="owner/name")
    fields = json.loads((tmp_path / FILE).read_text())
    assert (fields["scheme"], fields["modules_quantized"], fields["modules"]) == ("nf4", 2, ["a", "b"])
    assert (fields["min_params_to_quantize"], fields["source_repo"]) == (4096, "owner/name")
    check_metadata(tmp_path, ["b", "a"])
    with pytest.raises(PolicyError, match="2 packed layers, the weights hold 1"):
        check_metadata(tmp_path, ["a"])
    with pytest.raises(PolicyError, match="or others"):
        check_metadata(tmp_path, ["a", "c"])


def test_the_hubs_file_counts_layers_and_names_none(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"scheme": "nf4", "modules_quantized": 2, "adr": "ADR-0057"}')
    check_metadata(tmp_path, ["a", "b"])
    with pytest.raises(PolicyError, match="2 packed layers"):
        check_metadata(tmp_path, ["a"])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"modules_quantized": "many"}',
        '{"modules_quantized": 1e999}',
        '{"modules_quantized": 0, "modules": [[]]}',
        '{"modules_quantized": 0, "modules": 0}',
        "[" * 100_000,
    ],
    ids=lambda text: text[:50],
)
def test_a_broken_file_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    with pytest.raises(PolicyError, match="fetch it again"):
        check_metadata(tmp_path, [])
