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

    from ros2_embedded.packages import PackageNotFoundError, package_share

    try:
        path = package_share(args.package_name) / "package.xml"
    except PackageNotFoundError as error:
        raise CliError(str(error)) from error
    if not path.is_file():
        raise CliError(f"package '{args.package_name}' has no manifest at {path}")
    text = path.read_text(encoding="utf-8")
    if args.tag is None:
        sys.stdout.write(text.rstrip("\n") + "\n")
        return 0
    elements = ElementTree.fromstring(text).findall(args.tag)
    if not elements:
        raise CliError(f"the manifest {path} has no element '{args.tag}'")
    sys.stdout.write("".join(f"{element.text or ''}\n" for element in elements))
    return 0
