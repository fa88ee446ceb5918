"""`requirements/lock.txt` fits pyproject.toml on every Python, has hashes for everything, and names no address."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest
from install import GROUPS, LOCK, ROOT, entry
from lock import ALSO, OURS
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PYTHONS = ("3.10", "3.11", "3.12", "3.13")
ENTRY = re.compile(r"^(\S+==[^\\\n]*?) \\\n((?: +--hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.MULTILINE)
TEXT = LOCK.read_text()
Index = tuple[str, Callable[..., Path]]


def environment(python: str, extra: str = "") -> dict[str, str]:
    """The variables of markers on Linux with one Python."""
    linux = {
        "sys_platform": "linux",
        "platform_system": "Linux",
        "os_name": "posix",
        "platform_machine": "x86_64",
    }
    mine = {str(name): str(value) for name, value in default_environment().items()}
    return {**mine, **linux, "python_version": python, "python_full_version": f"{python}.5", "extra": extra}


def locked(python: str) -> dict[str, str]:
    """The version of each distribution that the lock has for one Python; no distribution may have two."""
    found: dict[str, str] = {}
    for line, _ in ENTRY.findall(TEXT):
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate(environment(python)):
            name = canonicalize_name(requirement.name)
            assert name not in found, f"two versions of {name} for Python {python}"
            found[name] = str(requirement.specifier).removeprefix("==")
    return found


def wanted() -> list[Requirement]:
    """What the projects themselves ask for in what `make demo` and `make test` install."""
    lines = [*ALSO]
    for project, extras in re.findall(
        r"^(\S+?)(?:\[(.*)\])?$", "\n".join((*GROUPS["runtime"], *GROUPS["dev"])), re.M
    ):
        table = tomllib.loads((ROOT / project / "pyproject.toml").read_text())["project"]
        lines += table["dependencies"]
        for extra in filter(None, extras.split(",")):
            lines += table["optional-dependencies"][extra]
    return [Requirement(line) for line in lines]


def test_every_entry_has_hashes_and_there_is_nothing_but_entries() -> None:
    rest = ENTRY.sub("", TEXT)
    assert [line for line in rest.splitlines() if line and not line.startswith("#")] == []
    assert len(ENTRY.findall(TEXT)) > 50


def test_no_index_and_no_folder_is_named() -> None:
    assert not re.search(r"://|@|(?m:^\s*-(?!-hash=))", TEXT)
    assert not re.search(r"(?m)^#.*(/|--index)", TEXT)


@pytest.mark.parametrize("python", PYTHONS)
def test_every_direct_dependency_is_pinned_within_its_bounds(python: str) -> None:
    versions = locked(python)
    wrong = [
        f"{requirement}: {versions.get(canonicalize_name(requirement.name), 'not there')}"
        for requirement in wanted()
        if requirement.name not in OURS
        and (requirement.marker is None or requirement.marker.evaluate(environment(python)))
        and versions.get(canonicalize_name(requirement.name)) not in requirement.specifier
    ]
    assert wrong == [], "make lock"


def test_what_is_installed_here_and_all_that_it_brings_is_what_is_locked() -> None:
    python = f"{sys.version_info[0]}.{sys.version_info[1]}"
    versions, seen, wrong = locked(python), set[tuple[str, str]](), list[str]()
    pending = [
        ("openral", ""),
        ("ros2-embedded", ""),
        *((canonicalize_name(r.name), e) for r in wanted() for e in ("", *r.extras)),
    ]
    while pending:
        name, extra = pending.pop()
        if (name, extra) in seen or name in ("hatchling", "editables", "tomli"):
            continue
        seen.add((name, extra))
        try:
            installed = metadata.version(name)
        except metadata.PackageNotFoundError:
            wrong.append(f"{name}: not installed, {versions.get(name)} locked")
            continue
        if name not in OURS and installed != versions.get(name):
            wrong.append(f"{name}: {installed} installed, {versions.get(name)} locked")
        for line in metadata.requires(name) or []:
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate(environment(python, extra)):
                pending += [(canonicalize_name(requirement.name), e) for e in ("", *requirement.extras)]
    assert len(seen) > 50
    assert wrong == [], "make"


def test_a_file_with_another_hash_than_the_locked_one_is_not_installed(
    index: Index, only_loopback: dict[str, str], uv: str, tmp_path: Path
) -> None:
    url, add = index
    wheel = add("alpha", "1.0")
    subprocess.run([uv, "venv", "--quiet", str(tmp_path / "empty")], check=True)
    done = {}
    for name, digest in (("another", "0" * 64), ("its own", hashlib.sha256(wheel.read_bytes()).hexdigest())):
        (tmp_path / "lock.txt").write_text(f"alpha==1.0 \\\n    --hash=sha256:{digest}\n")
        command = [
            uv,
            "pip",
            "install",
            "--python",
            str(tmp_path / "empty/bin/python"),
            "-c",
            str(tmp_path / "lock.txt"),
            "alpha",
        ]
        environ = {**only_loopback, "UV_DEFAULT_INDEX": url}
        done[name] = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert done["another"].returncode != 0
    assert "Hash mismatch" in done["another"].stderr
    assert done["its own"].returncode == 0, done["its own"].stderr


def test_one_distribution_is_taken_from_the_lock_with_its_hashes() -> None:
    version, lines = entry("uv", TEXT)
    assert lines.startswith(f"uv=={version} \\\n    --hash=sha256:")
    assert {line.split("==")[0].strip() for line in lines.splitlines() if "==" in line} == {"uv"}
    assert Requirement("uv>=0.7,<1").specifier.contains(version)
    with pytest.raises(LookupError, match="make lock"):
        entry("no-such-distribution", TEXT)
