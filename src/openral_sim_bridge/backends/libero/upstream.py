"""Access to LIBERO's own code and files without its prompts, downloads and writes to its folders.

Import it only in the sidecar's interpreter.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import logging
import os
import pickletools
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import NotFoundError, SimulationError
from openral_sim_bridge.backends.libero.suites import MAX_STEPS

_UNSEEN_BY_PHYSICS = ("goal_state", "language_instruction", "obj_of_interest")
"""Keys of a problem in which tasks of one scene may differ."""


def prepare(assets: Path, scratch: Path) -> None:
    """Make LIBERO importable; call it before LIBERO or robosuite is imported.

    Args:
        assets: folder of LIBERO's assets, as in its repository.
        scratch: folder for the files that the two packages would otherwise write elsewhere.
    """
    config = scratch / "config"
    config.mkdir(parents=True, exist_ok=True)
    # LIBERO asks questions on stdin if this file is absent. Its paths are not used here.
    (config / "config.yaml").write_text(json.dumps({"assets": str(assets)}))
    os.environ["LIBERO_CONFIG_PATH"] = str(config)
    os.environ["NUMBA_CACHE_DIR"] = str(scratch / "numba")  # by default it writes to site-packages
    macros = _load("robosuite.macros", _package_folder("robosuite") / "macros.py")
    # The log file would be /tmp/robosuite.log, which only the first user of the machine can write, and its messages
    # about absent private macros are irrelevant.
    logging.getLogger("robosuite_logs").setLevel(logging.ERROR)
    macros.FILE_LOGGING_LEVEL = None  # type: ignore[attr-defined]
    macros.CONSOLE_LOGGING_LEVEL = "ERROR"  # type: ignore[attr-defined]
    sys.modules["robosuite.macros"] = macros
    import libero.libero

    libero.libero._assets_path_cache = str(assets)  # LIBERO uses this before any other folder or the hub


@dataclass(frozen=True)
class LiberoTask:
    """One task of a suite."""

    id: str
    """`suite/name`."""
    bddl: Path
    """Path of its problem file."""
    problem: dict[str, Any]
    """The parsed problem."""
    scene: str
    """Identifier that is equal for tasks that differ only in their goal."""
    states: NDArray[np.float64]
    """(50, 1 + nq + nv) stored initial states: time, qpos, qvel."""


@functools.cache
def load_task(task_id: str) -> LiberoTask:
    """Read a task's files.

    Raises:
        NotFoundError: there is no such suite or task; the text lists the existing ones.
    """
    suite, _, name = task_id.partition("/")
    if suite not in MAX_STEPS:
        raise NotFoundError(
            f"LIBERO has no suite '{suite}' (of task '{task_id}'); it has {', '.join(MAX_STEPS)}"
        )
    if name not in suite_tasks()[suite]:
        raise NotFoundError(f"{suite} has no task '{name}'; it has {', '.join(sorted(suite_tasks()[suite]))}")
    from libero.libero.envs.bddl_utils import robosuite_parse_problem

    root = _package_folder("libero") / "libero"
    bddl = root / "bddl_files" / suite / f"{name}.bddl"
    problem = robosuite_parse_problem(str(bddl))
    setting = {key: value for key, value in problem.items() if key not in _UNSEEN_BY_PHYSICS}
    scene = json.dumps(setting, sort_keys=True, default=str)
    states = read_states(root / "init_files" / suite / f"{name}.pruned_init")
    return LiberoTask(task_id, bddl, problem, scene, states)


@functools.cache
def suite_tasks() -> dict[str, list[str]]:
    """Return suite -> names of its tasks in LIBERO's order.

    The file is loaded without its package, which imports torch for a function that is not needed here.
    """
    path = _package_folder("libero") / "libero" / "benchmark" / "libero_suite_task_map.py"
    tasks: dict[str, list[str]] = _load("libero_suite_task_map", path).libero_task_map
    return {suite: list(tasks[suite]) for suite in MAX_STEPS}


def read_states(path: Path) -> NDArray[np.float64]:
    """Return the stored initial states (N, 1 + nq + nv) of a file without unpickling it.

    `torch.save` of a numpy array is a zip archive with one pickle. Its opcodes are parsed, not executed: the array's
    shape is the only pair of integers, its dtype must be float64 in C order, and its bytes are the longest text, which
    pickle's protocol 2 writes as latin-1.

    Raises:
        SimulationError: the file has other content.
    """
    with zipfile.ZipFile(path) as archive:
        steps = [
            (code.name, argument)
            for code, argument, _ in pickletools.genops(archive.read("archive/data.pkl"))
        ]
    shapes = list(_integer_pairs(steps))
    texts = [str(argument) for name, argument in steps if name == "BINUNICODE"]
    globals_ = {argument for name, argument in steps if name == "GLOBAL"}
    plain = {"numpy.core.multiarray _reconstruct", "numpy ndarray", "_codecs encode", "numpy dtype"}
    if len(shapes) != 1 or globals_ != plain or not {"f8", "<"} <= set(texts):
        raise SimulationError(
            f"{path}: not a plain float64 array; install hf-libero as the sidecar's spec says"
        )
    data = max(texts, key=len).encode("latin-1")
    rows, columns = shapes[0]
    if len(data) != 8 * rows * columns:
        raise SimulationError(
            f"{path}: {len(data)} bytes for {rows} x {columns} numbers; install hf-libero anew"
        )
    return np.frombuffer(data, "<f8").reshape(rows, columns)


def _integer_pairs(steps: list[tuple[str, Any]]) -> Iterator[tuple[int, int]]:
    for first, second, third in zip(steps, steps[1:], steps[2:], strict=False):
        if third[0] == "TUPLE2" and first[0].startswith("BININT") and second[0].startswith("BININT"):
            yield first[1], second[1]


def _package_folder(name: str) -> Path:
    """Return the folder of a package without importing it."""
    found = importlib.util.find_spec(name)
    if found is None or not found.submodule_search_locations:
        raise SimulationError(f"{name} is not installed here; run `openral sidecar build libero`")
    return Path(next(iter(found.submodule_search_locations)))


def _load(name: str, path: Path) -> ModuleType:
    """Load one module of a package without importing the package."""
    found = importlib.util.spec_from_file_location(name, path)
    if found is None or found.loader is None:
        raise SimulationError(f"{path} cannot be loaded; install it as the sidecar's spec says")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module
