"""Installs one package into a prefix."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from ros2_embedded.install.cmake_install_rules import read_rules
from ros2_embedded.install.entry_point_files import read_entry_points, write_metadata, write_scripts
from ros2_embedded.install.source_packages import InstallError, SourcePackage
from ros2_embedded.packages import index_directory
from ros2_embedded.rosidl.parser import (
    InterfaceSyntaxError,
    parse_message,
    read_definition,
    split_sections,
)

_SECTIONS = {"msg": 1, "srv": 2, "action": 3}


@dataclass
class Report:
    """Installed and omitted parts of a package.

    Attributes:
        interfaces: names such as `msg/Thing`.
        executables: names of the programs for `ros2 run`.
        left_out: names of the programs and libraries that need a compiler.
    """

    interfaces: list[str] = field(default_factory=list)
    executables: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def site_packages(prefix: Path) -> Path:
    """Return the folder of the Python packages of a prefix."""
    if prefix == Path(sys.prefix):
        return Path(sysconfig.get_path("purelib"))
    return prefix / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"


def install_package(package: SourcePackage, prefix: Path) -> Report:
    """Install a package.

    Raises:
        InstallError: an interface or `setup.py` is invalid, or a file that is to be installed is missing.
    """
    report = Report()
    share = prefix / "share" / package.name
    share.mkdir(parents=True, exist_ok=True)
    shutil.copy2(package.folder / "package.xml", share / "package.xml")
    if (package.folder / "setup.py").is_file() and package.build_type != "ament_cmake":
        _run_setup(package, prefix)
    elif (package.folder / "CMakeLists.txt").is_file():
        _follow_cmake(package, prefix, report)
    else:
        raise InstallError(f"package '{package.name}' has neither a setup.py nor a CMakeLists.txt")
    marker = index_directory(prefix, "packages") / package.name
    marker.parent.mkdir(parents=True, exist_ok=True)
    marker.touch()
    programs = prefix / "lib" / package.name
    report.executables = sorted(path.name for path in programs.iterdir()) if programs.is_dir() else []
    return report


def _run_setup(package: SourcePackage, prefix: Path) -> None:
    """Install a package by its `setup.py`, as colcon does; `setup.cfg` puts programs into lib/<package>."""
    if importlib.util.find_spec("setuptools") is None:
        raise InstallError(f"the setup.py of '{package.name}' needs setuptools: pip install setuptools")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        _copy_folder(package.folder, source, ".git", "__pycache__")
        command = [sys.executable, "-W", "ignore", "setup.py", "-q", "install", f"--prefix={prefix}"]
        command += [
            f"--install-lib={site_packages(prefix)}",
            f"--install-scripts={prefix / 'lib' / package.name}",
        ]
        command += ["--single-version-externally-managed", f"--record={folder}/record"]
        done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        reason = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no reason given"]
        raise InstallError(f"the setup.py of '{package.name}' failed: {reason[0]}")


def _follow_cmake(package: SourcePackage, prefix: Path, report: Report) -> None:
    rules = read_rules(package.folder / "CMakeLists.txt")
    if rules.has_interfaces:
        report.interfaces = _copy_interfaces(package, prefix)
    for name, source in rules.python:
        path = package.folder / source
        target = _inside(package, site_packages(prefix), name if path.is_dir() else f"{name}.py")
        _copy(package, path, target, executable=False)
    for name, (setup_file, scripts) in rules.setup_files.items():
        points = read_entry_points(package.folder / setup_file)
        if points:
            write_metadata(package, name, points, site_packages(prefix))
        if scripts:
            write_scripts(points, _inside(package, prefix, scripts))
    for source, place, executable in rules.copies:
        path = package.folder / source
        if path.exists() or not any(sign in source for sign in "$<>*"):
            target = _inside(package, prefix, place)
            _copy(package, path, target, executable=executable or place.startswith("lib/"))
    report.left_out = rules.compiled


def _inside(package: SourcePackage, folder: Path, place: str) -> Path:
    """Return a place below a folder; raise InstallError for one that `..` leads out of it."""
    target = Path(os.path.normpath(folder / place))
    if not target.is_relative_to(os.path.normpath(folder)):
        raise InstallError(f"package '{package.name}' installs to {target}, which is not below {folder}")
    return target


def _copy(package: SourcePackage, source: Path, target: Path, *, executable: bool) -> None:
    if not source.exists():
        raise InstallError(f"package '{package.name}' installs {source}, which is not there")
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        _copy_folder(source, target, "__pycache__")
        return
    shutil.copy2(source, target)
    if executable:
        target.chmod(target.stat().st_mode | 0o755)


def _copy_folder(source: Path, target: Path, *ignored: str) -> None:
    """Copy a folder but for links to nothing, as editors leave them, and to folders that they lie in."""
    by_name = shutil.ignore_patterns(*ignored)

    def ignore(folder: str, names: list[str]) -> set[str]:
        here = Path(folder).absolute()
        above = {os.path.realpath(each) for each in (here, *here.parents)}
        return by_name(folder, names) | {name for name in names if os.path.realpath(here / name) in above}

    shutil.copytree(source, target, dirs_exist_ok=True, ignore=ignore, ignore_dangling_symlinks=True)


def _copy_interfaces(package: SourcePackage, prefix: Path) -> list[str]:
    """Check and copy the interface files, and list them in the resource index; return their names."""
    names = []
    for kind, sections in _SECTIONS.items():
        for path in sorted((package.folder / kind).glob(f"*.{kind}")):
            try:
                text = read_definition(path)
                for section in [text] if sections == 1 else split_sections(text, sections, str(path)):
                    parse_message(section, f"{package.name}/{kind}/{path.stem}", str(path))
            except InterfaceSyntaxError as error:
                raise InstallError(str(error)) from error
            _copy(package, path, prefix / "share" / package.name / kind / path.name, executable=False)
            names.append(f"{kind}/{path.stem}")
    resource = index_directory(prefix, "rosidl_interfaces") / package.name
    resource.parent.mkdir(parents=True, exist_ok=True)
    resource.write_text("".join(f"{name}.{name.partition('/')[0]}\n" for name in names), "utf-8")
    return names
