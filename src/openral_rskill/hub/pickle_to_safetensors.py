"""Converts a pickle of tensors to safetensors without unpickling in this process.

The file is read by a process of its own (`openral_rskill.hub.pickle_to_safetensors_child`) with PyTorch's reader for
plain tensors (`torch.load(weights_only=True)`, https://docs.pytorch.org/docs/stable/generated/torch.load.html). What
needs more than that is refused: nobody can say what it would do.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from openral_core.errors import InstallationError, NotFoundError, WeightsError
from openral_core.files.json_file import read_json_object
from openral_rskill.safetensors_check import SUFFIX, weights_fault
from openral_rskill.weights_files import INDEX_SUFFIX, PICKLE_SUFFIXES, TEXT_SUFFIXES, is_pickled

TIMEOUT_S = 3600.0
_PICKLE_INDEX = ".bin.index.json"
_OF_TRAINING = ("optimizer", "random_states", "rng_state", "scaler", "scheduler", "training_args")
"""Beginnings of the names of pickles with which transformers and accelerate go on training; no weights are in them."""


def convert(source: Path, target: Path) -> list[Path]:
    """Convert a pickle, or all pickles of a folder, and return the files that were written.

    Args:
        source: a file that `torch.save` wrote, or a folder with some. Of a folder, an index of shards is rewritten
            and configuration and tokenizer are copied; what only training needs stays behind.
        target: the safetensors file, or the folder for them; must not be there yet (a folder may, its files not). It
            may be the source itself, in which configuration and tokenizer then stay as they are.

    Raises:
        NotFoundError: there is no pickle.
        WeightsError: it needs more than plain tensors, or the target is there.
        InstallationError: torch or safetensors is not installed.
    """
    if not source.is_dir():
        if not source.is_file():
            raise NotFoundError(f"{source} is not there; name a file or a folder with pickles")
        return [_convert_file(source, target)]
    pickles = [
        path
        for path in sorted(source.iterdir())
        if path.is_file() and is_pickled(path) and not path.name.startswith(_OF_TRAINING)
    ]
    if not pickles:
        raise NotFoundError(
            f"{source} holds no pickle ({', '.join(PICKLE_SUFFIXES)}); there is nothing to convert"
        )
    target.mkdir(parents=True, exist_ok=True)
    indices = sorted(source.glob(f"*{_PICKLE_INDEX}"))
    texts = [
        path
        for path in sorted(source.iterdir())
        if path.suffix in TEXT_SUFFIXES and path not in indices and not target.samefile(source)
    ]
    names = [*(_new_name(path.name) for path in pickles), *map(_new_index_name, indices)]
    for name in (*names, *(path.name for path in texts)):  # before any is written
        _require_free(target / name)
    rewritten = {target / _new_index_name(path): _converted_index(path) for path in indices}
    written = [_convert_file(path, target / _new_name(path.name)) for path in pickles]
    for path, text in rewritten.items():
        path.write_text(text, encoding="utf-8")
    written += rewritten
    written += [Path(shutil.copy2(path, target / path.name)) for path in texts]
    return written


def _convert_file(source: Path, target: Path) -> Path:
    if target.suffix != SUFFIX:
        raise WeightsError(f"{target} does not end with {SUFFIX}; name the file to write")
    _require_free(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".convert-") as folder:
        made = Path(folder) / target.name
        # -I: neither the user's site packages nor PYTHON* variables decide what is imported.
        command = [
            sys.executable,
            "-I",
            "-m",
            "openral_rskill.hub.pickle_to_safetensors_child",
            str(source),
            str(made),
        ]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        except subprocess.TimeoutExpired as error:
            raise WeightsError(f"{source}: not converted after {TIMEOUT_S:g} s; is it damaged?") from error
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines() or ["ended without a word"]
            kind = InstallationError if "not installed" in lines[-1] else WeightsError
            raise kind(f"{source}: {lines[-1]}")
        fault = weights_fault(made)
        if fault is not None:
            raise WeightsError(f"{source}: {fault}; the disk may be full")
        os.replace(made, target)
    return target


def _converted_index(source: Path) -> str:
    """Return an index of shards with the new names of its files."""
    index = read_json_object(source, WeightsError)
    try:
        index["weight_map"] = {name: _new_name(str(file)) for name, file in index["weight_map"].items()}
    except (KeyError, AttributeError) as error:
        raise WeightsError(f"{source} is no index of shards; fetch it again") from error
    return json.dumps(index, indent=2) + "\n"


def _require_free(target: Path) -> None:
    if os.path.lexists(target):
        raise WeightsError(f"{target} is there already; remove it or name another")


def _new_name(name: str) -> str:
    """`pytorch_model-00001-of-00002.bin` -> `model-00001-of-00002.safetensors`, as transformers names them."""
    return f"{Path(name).stem.replace('pytorch_model', 'model')}{SUFFIX}"


def _new_index_name(source: Path) -> str:
    """`pytorch_model.bin.index.json` -> `model.safetensors.index.json`."""
    return source.name.removesuffix(_PICKLE_INDEX).replace("pytorch_model", "model") + INDEX_SUFFIX
