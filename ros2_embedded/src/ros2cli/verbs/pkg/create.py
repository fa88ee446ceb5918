"""ros2 pkg create."""

from __future__ import annotations

import argparse
import getpass
import keyword
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from ...errors import CliError
from ...package_templates import CMAKE, PYTHON, NewPackage, files_of
from ...topics import write

_NAME = re.compile(r"[a-z][a-z0-9_]*")
"""Of packages, as catkin_pkg asks for, with underscores alone since Python and ROS names take no hyphens."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("package_name", help="The package name")
    parser.add_argument(
        "--package-format", "--package_format", type=int, default=3, choices=[2, 3], help="of package.xml"
    )
    parser.add_argument("--description", default="TODO: Package description", help="for package.xml")
    parser.add_argument(
        "--license", default="TODO: License declaration", help="for package.xml, any text; no file is written"
    )
    parser.add_argument(
        "--destination-directory", default=os.curdir, help="Directory where to create the package directory"
    )
    parser.add_argument("--build-type", default=CMAKE, choices=[CMAKE, PYTHON], help="The build type")
    parser.add_argument("--dependencies", nargs="+", default=[], help="list of dependencies")
    parser.add_argument("--maintainer-email", help="default: that of git's configuration")
    parser.add_argument("--maintainer-name", default=_user(), help="name of the maintainer")
    parser.add_argument("--node-name", default="", help="name of the empty executable")
    parser.add_argument("--library-name", default="", help=f"name of the empty library, with {PYTHON} only")


def main(args: argparse.Namespace) -> int:
    """Write a new package."""
    package = _package(args)
    folder = Path(args.destination_directory) / package.name
    if folder.exists():
        raise CliError(
            f"Aborted: the directory already exists: {folder}\n"
            "Either remove the directory or choose a different destination directory or package name"
        )
    write(
        "going to create a new package\n"
        f"package name: {package.name}\n"
        f"destination directory: {Path(args.destination_directory).absolute()}\n"
        f"package format: {package.package_format}\n"
        "version: 0.0.0\n"
        f"description: {package.description}\n"
        f"maintainer: ['{package.maintainer} <{package.email}>']\n"
        f"licenses: ['{package.license}']\n"
        f"build type: {package.build_type}\n"
        f"dependencies: {list(package.dependencies)}\n"
        + (f"node_name: {package.node}\n" if package.node else "")
        + (f"library_name: {package.library}\n" if package.library else "")
    )
    for name, text in files_of(package).items():
        path = folder / name
        write(f"creating {path}\n")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise CliError(f"cannot write {path}: {error.strerror or error}") from error
    return 0


def _package(args: argparse.Namespace) -> NewPackage:
    node, library = args.node_name, args.library_name
    for what, name in (("package", args.package_name), ("node", node), ("library", library)):
        if name and (_NAME.fullmatch(name) is None or keyword.iskeyword(name)):
            raise CliError(f"{what} name '{name}': use small letters, digits and underscores, a letter first")
    if args.build_type == PYTHON and args.package_name == "test":
        raise CliError(
            "Aborted since 'ament_python' packages can't be named 'test'. Please choose another name."
        )
    if args.build_type == CMAKE and library:
        raise CliError(f"--library-name: a library of C++ is not written here; use --build-type {PYTHON}")
    if node and node == library:
        node += "_node"
        sys.stderr.write(
            f"[WARNING] node name can not be equal to the library name\n[WARNING] renaming node to {node}\n"
        )
    return NewPackage(
        args.package_name,
        args.build_type,
        args.package_format,
        args.description,
        args.license,
        args.maintainer_name,
        args.maintainer_email or _email() or f"{args.maintainer_name}@todo.todo",
        args.dependencies,
        node,
        library,
    )


def _user() -> str:
    """Return the name of who runs this; a user of a container may have none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # OSError since Python 3.13
        return "todo"


def _email() -> str:
    """Return the address that git's configuration has, or nothing."""
    git = shutil.which("git")
    if git is None:
        return ""
    done = subprocess.run([git, "config", "user.email"], capture_output=True, text=True, check=False)
    return done.stdout.strip()
