"""The rules of the house: what may import what, what is packaged, how large a file may be."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
TESTS = sorted(path for tests in ("tests", "ros2_embedded/tests") for path in (ROOT / tests).rglob("*.py"))
EMBEDDED = sorted((ROOT / "ros2_embedded" / "src").rglob("*.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module)
    return names


def test_files_stay_small() -> None:
    lines = {str(path.relative_to(ROOT)): path.read_text().count("\n") for path in [*SOURCES, *EMBEDDED]}
    assert not {name: count for name, count in lines.items() if count > 500}


def test_folders_stay_small() -> None:
    folders = {path.parent for path in [*SOURCES, *TESTS]}
    large = {
        str(folder.relative_to(ROOT)): n for folder in folders if (n := len(list(folder.glob("*.py")))) > 24
    }
    assert not large


def test_a_class_name_stands_for_one_thing() -> None:
    places: dict[str, list[str]] = {}
    for path in SOURCES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    assert not {name: found for name, found in places.items() if len(found) > 1}


def test_every_package_is_typed() -> None:
    packages = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert [p for p in packages if not (ROOT / p / "py.typed").is_file()] == []
    assert {f"src/{p.name}" for p in (ROOT / "src").iterdir() if (p / "__init__.py").is_file()} == set(
        packages
    )


def test_ros_package_and_pip_package_offer_the_same_executables() -> None:
    cmake = (ROOT / "CMakeLists.txt").read_text()
    built = dict(re.findall(r"openral_executable\((\w+) ([\w.]+)\)", cmake))
    entries = PROJECT["project"]["entry-points"]["ros2_embedded.executables"]
    assert {f"openral.{name}": f"{module}:main" for name, module in built.items()} == entries
    for module in built.values():
        assert (ROOT / "src" / f"{module.replace('.', '/')}.py").is_file()


def test_every_shared_folder_is_installed_in_both_ways() -> None:
    shared = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"]
    cmake = (ROOT / "CMakeLists.txt").read_text()
    for folder in ("config", "launch", "robots", "rskills", "scenes", "suites"):
        assert shared[folder] == f"share/openral/{folder}"
        assert re.search(rf"install\(DIRECTORY[^)]*\b{folder}\b", cmake), folder


def test_package_xml_names_what_the_interfaces_use() -> None:
    package = ElementTree.parse(ROOT / "package.xml").getroot()
    assert package.get("format") == "3"
    assert package.findtext("version") == PROJECT["project"]["version"]
    depends = {node.text for node in package.iter() if node.tag in ("depend", "exec_depend")}
    used: set[str] = set()
    for path in [*(ROOT / "msg").iterdir(), *(ROOT / "srv").iterdir(), *(ROOT / "action").iterdir()]:
        used |= set(re.findall(r"^(\w+)/\w+(?:\[.*\])? ", path.read_text(), re.MULTILINE))
    assert used <= depends
    imported = {name.split(".")[0] for path in SOURCES for name in imports(path)}
    imported = {name for name in imported if re.match(r"\w+_(msgs|srvs|interfaces)$", name)}
    assert imported <= depends, f"add to package.xml: {sorted(imported - depends)}"


def interpreters() -> list[Path]:
    found: list[Path] = []
    for minor in (10, 12, 13):
        name = f"python3.{minor}"
        versions = sorted(Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python"))
        candidates = [*versions, *([Path(path)] if (path := shutil.which(name)) else [])]
        for candidate in candidates:
            probe = [str(candidate), "-c", "import sys; print(*sys.version_info[:2])"]
            done = subprocess.run(probe, capture_output=True, text=True, check=False)
            if done.stdout.split() == ["3", str(minor)]:
                found.append(candidate)
                break
    return found


@pytest.mark.parametrize("python", interpreters() or [None], ids=str)
def test_other_pythons_compile_every_file(python: Path | None, tmp_path: Path) -> None:
    if python is None:
        pytest.skip("no Python 3.10, 3.12 or 3.13 on this machine")
    code = (
        "import ast, pathlib, sys\n"
        "for name in sys.argv[1:]:\n"
        "    compile(pathlib.Path(name).read_text(encoding='utf-8'), name, 'exec')\n"
    )
    files = [str(path) for path in [*SOURCES, *EMBEDDED, *(ROOT / "launch").glob("*.py")]]
    done = subprocess.run([str(python), "-c", code, *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
