"""Builds the environment of a sidecar with `uv` from its spec, once, and locks its versions.

It is in `$OPENRAL_CACHE_HOME/sidecars/<name>-<digest>/`. The exact versions that were resolved are in
`<name>-<digest>.lock.txt` beside it, which is kept when the folder is removed, and from which a later build installs. A
build that was killed continues later: installed packages stay, and downloads are in uv's cache.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from openral_core.errors import SidecarError
from openral_core.files.atomic import write_atomically
from openral_sidecar.environment.file_lock import exclusive
from openral_sidecar.environment.spec import InstallStep, SidecarSpec, Source
from openral_sidecar.environment.uv_command import Uv
from openral_sidecar.paths import environments_folder

OURS = InstallStep(("msgpack>=1.1,<2", "numpy", "pyzmq>=26,<28"))
"""Requirements of openral's server code in every sidecar; installed last, so that a spec's own pins hold."""
READY = ".openral-ready"
"""File that marks a complete environment."""
BUILD_S = 4 * 3600.0
"""[s] for which a process waits for another one that builds the same environment."""

Progress = Callable[[str], None]


def environment_folder(spec: SidecarSpec) -> Path:
    """Return the folder of the environment of a spec, whether or not it exists."""
    return environments_folder() / f"{spec.name}-{spec.digest[:12]}"


def lock_file(spec: SidecarSpec) -> Path:
    """Return the file with the exact versions of the environment of a spec."""
    return environments_folder() / f"{spec.name}-{spec.digest[:12]}.lock.txt"


def is_built(spec: SidecarSpec) -> bool:
    """Return whether the environment is complete and its interpreter still exists."""
    folder = environment_folder(spec)
    return (folder / READY).is_file() and os.access(_python(folder), os.X_OK)


def ensure_environment(
    spec: SidecarSpec, *, source: Path | None = None, progress: Progress | None = None
) -> Path:
    """Return the interpreter of a spec's environment, which is built first if it is missing.

    Args:
        spec: of the sidecar.
        source: folder with upstream's code, instead of the source of the spec.
        progress: called with one line for each step.

    Raises:
        SidecarError: the environment could not be built; the message has the cause and a remedy.
    """
    spec = spec.with_source(source)
    _check_source(spec)
    folder = environment_folder(spec)
    if not is_built(spec):
        say = progress or (lambda line: None)
        building = environments_folder() / f".{folder.name}.building"
        try:
            with exclusive(building, BUILD_S, _once(say, f"{spec.name}: another process builds it; waiting")):
                if not is_built(spec):
                    _build(spec, folder, say)
        except OSError as error:
            where, why = error.filename or folder, error.strerror
            raise SidecarError(f"sidecar {spec.name}: {where}: {why}; fix that, then try again") from error
    return _python(folder)


def _build(spec: SidecarSpec, folder: Path, say: Progress) -> None:
    say(f"{spec.name}: building {folder}")
    uv, lock = Uv(spec.name, say), lock_file(spec)
    if not os.access(_python(folder), os.X_OK):
        uv.run("venv", "--quiet", "--clear", "--no-project", "--python", spec.python, str(folder))
    install = ("pip", "install", "--python", str(_python(folder)))
    if lock.is_file():
        say(f"{spec.name}: the versions of {lock}; remove that file to resolve them anew")
        uv.run(*install, "--no-deps", "--requirements", str(lock))
    else:
        steps = (*spec.steps, OURS)
        for number, step in enumerate(steps, 1):
            say(f"{spec.name}: step {number} of {len(steps)}: {' '.join(step.requirements)}")
            uv.run(*install, *(["--no-deps"] if step.no_deps else []), *step.requirements)
        write_atomically(lock, uv.run("pip", "freeze", "--python", str(_python(folder))))
    if spec.source is not None:
        _add_source(spec.source, folder, lambda what: uv.run(*install, "--no-deps", what))
    write_atomically(folder / READY, spec.digest)
    say(f"{spec.name}: ready")


def _check_source(spec: SidecarSpec) -> None:
    source = spec.source
    if source is not None and source.kind == "git" and not re.fullmatch(r"[0-9a-f]{40}", source.revision):
        raise SidecarError(
            f"sidecar {spec.name}: revision {source.revision!r} of its source; give a full commit"
        )
    if source is not None and source.kind == "folder" and not Path(source.location).is_dir():
        raise SidecarError(f"sidecar {spec.name}: there is no folder {source.location}; fix --source")


def _add_source(source: Source, folder: Path, install: Callable[[str], object]) -> None:
    """Install upstream's code; a folder is only added to the import path, and neither built nor written to."""
    if source.kind == "package":
        install(source.location)
    elif source.kind == "git":
        install(f"git+{source.location}@{source.revision}")
    else:
        root = Path(source.location)
        paths = [path for path in (root / "src", root) if path.is_dir()]
        site = next(folder.glob("lib/python*/site-packages"))
        write_atomically(site / "openral_source.pth", "".join(f"{path}\n" for path in paths))


def _python(folder: Path) -> Path:
    return folder / "bin" / "python"


def _once(say: Progress, line: str) -> Callable[[], None]:
    """Return a function that reports the line on its first call only."""
    lines = [line]
    return lambda: say(lines.pop()) if lines else None
