"""`python -m ros2_embedded.install <folder>`: make the packages in a folder of sources usable."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

from ros2_embedded.install.installer import Report, install_package, site_packages
from ros2_embedded.install.source_packages import InstallError, find_packages


def main(argv: list[str] | None = None) -> int:
    """Command line; returns the exit status: 1 when a package could not be installed."""
    parser = argparse.ArgumentParser(
        prog="python -m ros2_embedded.install",
        description="Make the sources of ROS 2 packages usable without colcon and without a compiler.",
    )
    parser.add_argument(
        "folders", nargs="+", type=Path, metavar="FOLDER", help="sources, searched for package.xml"
    )
    parser.add_argument(
        "--prefix", type=Path, default=Path(sys.prefix), help="where to; this interpreter's by default"
    )
    parser.add_argument("--packages-select", nargs="+", metavar="NAME", help="only these packages")
    args = parser.parse_args(argv)
    prefix: Path = args.prefix.expanduser().absolute()
    try:
        packages = [package for folder in args.folders for package in find_packages(folder)]
        chosen = args.packages_select or [package.name for package in packages]
        missing = sorted(set(chosen) - {package.name for package in packages})
        if missing:
            raise InstallError(f"no such package in the folders: {', '.join(missing)}")
        for package in packages:
            if package.name in chosen:
                _tell(package.name, install_package(package, prefix))
    except InstallError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except OSError as error:
        sys.stderr.write(f"{_reason(error)}\n")
        return 1
    if prefix != Path(sys.prefix):
        _tell_variables(prefix)
    return 0


def _reason(error: OSError) -> str:
    """Return the place and the reason; shutil gives one of each file that it could not copy."""
    if isinstance(error, shutil.Error) and error.args and isinstance(error.args[0], list):
        source, target, why = error.args[0][0]
        return f"{source} cannot be copied to {target}: {why}"
    return f"{error.filename} cannot be read or written: {error.strerror}; is --prefix a folder of yours?"


def _tell(name: str, report: Report) -> None:
    parts = []
    if report.interfaces:
        parts.append(f"{len(report.interfaces)} interfaces")
    if report.executables:
        parts.append(f"executables: {', '.join(report.executables)}")
    if report.left_out:
        parts.append(f"left out, as it needs a compiler: {', '.join(report.left_out)}")
    sys.stdout.write(f"{name}: {'; '.join(parts) or 'installed'}\n")


def _tell_variables(prefix: Path) -> None:
    """Say how the prefix is found."""
    for variable, path in (("AMENT_PREFIX_PATH", prefix), ("PYTHONPATH", site_packages(prefix))):
        if str(path) not in os.environ.get(variable, "").split(os.pathsep):
            sys.stdout.write(f'export {variable}="{path}${{{variable}:+:${variable}}}"\n')


if __name__ == "__main__":
    sys.exit(main())
