"""ros2 pkg xml."""

from __future__ import annotations

import argparse
import sys

from ...errors import CliError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("package_name", help="the package")
    parser.add_argument("-t", "--tag", help="print the text of this element only, such as version")


def main(args: argparse.Namespace) -> int:
    """Print the manifest of a package, or one element of it."""
    from xml.etree import ElementTree

    from ros2_embedded.packages import OWN, PackageNotFoundError, package_share

    try:
        path = package_share(args.package_name) / "package.xml"
    except PackageNotFoundError as error:
        raise CliError("Package not found") from error
    if path.is_file():
        text = path.read_text("utf-8", "replace")
    elif args.package_name in OWN:
        text = _own_manifest(args.package_name)
    else:
        raise CliError(f"package '{args.package_name}' has no manifest at {path}")
    if args.tag is None:
        sys.stdout.write(text.rstrip("\n") + "\n")
        return 0
    try:
        elements = ElementTree.fromstring(text).findall(args.tag)
    except (ElementTree.ParseError, LookupError, ValueError) as error:  # or an unknown encoding
        raise CliError(f"the manifest {path} is no XML: {error}") from error
    if not elements:
        raise CliError(f"the manifest {path} has no element '{args.tag}'")
    sys.stdout.write("".join(f"{element.text or ''}\n" for element in elements))
    return 0


def _own_manifest(package: str) -> str:
    """The manifest of a package that this distribution stands for, from the distribution's metadata."""
    from importlib.metadata import metadata

    known = metadata("ros2-embedded")
    return (
        f'<package format="3">\n  <name>{package}</name>\n  <version>{known["Version"]}</version>\n'
        f"  <description>{known['Summary']}</description>\n"
        f"  <license>{known['License-Expression']}</license>\n"
        "  <export>\n    <build_type>ament_python</build_type>\n  </export>\n</package>\n"
    )
