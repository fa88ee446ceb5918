"""A suite: the benchmark scenes whose mean is one published number."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from openral_core.document import Document, read_document
from openral_core.errors import ManifestError, NotFoundError
from openral_core.named_files import find_file
from openral_core.scene import BenchmarkScene, load_scene

SUITE_PATTERNS = ("benchmarks/{}.yaml",)
_UNIFORM = ("robot_id", "n_episodes", "seed", "control_hz", "action")


@dataclass(frozen=True)
class Suite:
    """Scenes in the order of the file."""

    id: str
    """Stem of the file's name, such as metaworld_mt10."""
    scenes: tuple[BenchmarkScene, ...]
    """At least one."""


def load_suite(path_or_name: str | Path) -> Suite:
    """Load `benchmarks/<name>.yaml`, a list of names or paths of benchmark scenes.

    Raises:
        NotFoundError: no such suite.
        ManifestError: not such a list, or the scenes do not belong together.
    """
    path = find_file(path_or_name, "suite", SUITE_PATTERNS)
    document = read_document(path)
    refs = document.data
    if not isinstance(refs, list) or not refs:
        raise ManifestError(document.fault((), "is not a list", "write `- name of a benchmark scene` lines"))
    scenes = tuple(_scene(document, index, ref) for index, ref in enumerate(refs))
    _check_uniform(document, scenes)
    return Suite(path.stem, scenes)


def _scene(document: Document, index: int, ref: object) -> BenchmarkScene:
    if not isinstance(ref, str):
        raise ManifestError(document.fault((index,), "is not text", "write the name of a benchmark scene"))
    try:
        return load_scene(ref, BenchmarkScene)
    except NotFoundError as error:
        raise ManifestError(
            document.fault((index,), f"scene '{ref}' was not found", "mend the name")
        ) from error


def _check_uniform(document: Document, scenes: tuple[BenchmarkScene, ...]) -> None:
    """Refuse scenes that differ in what one number over all of them takes for granted."""
    seen: set[str] = set()
    for index, scene in enumerate(scenes):
        for name in _UNIFORM:
            if getattr(scene, name) != getattr(scenes[0], name):
                what = f"{name} differs from the first scene's"
                raise ManifestError(
                    document.fault((index,), what, "one suite has one protocol; make them equal")
                )
        if scene.task.id in seen:
            raise ManifestError(document.fault((index,), f"task {scene.task.id} is there twice", "keep one"))
        seen.add(scene.task.id)
