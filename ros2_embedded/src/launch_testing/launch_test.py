"""The program `launch_test`: runs a file of launch tests.

launch_test test/talker.test.py speed:=2
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from .junitxml import unittestResultsToXml
from .loader import LoadTestsFromPythonModule, load_module
from .test_runner import LaunchTestRunner

Runner = Callable[[Iterable[Any], Iterable[str], bool], LaunchTestRunner]
NOT_RUN = 2
"""The exit code where there is nothing to run."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the program."""
    parser.add_argument("test_file", help="the file of launch tests")
    parser.add_argument("launch_arguments", nargs="*", metavar="name:=value", help="launch arguments")
    parser.add_argument("-v", "--verbose", action="store_true", help="log what the launch does")
    parser.add_argument(
        "-s", "--show-args", "--show-arguments", action="store_true", help="print the launch arguments only"
    )
    parser.add_argument("--package-name", metavar="NAME", help="of the results; the file's name by default")
    parser.add_argument("--junit-xml", metavar="FILE", help="write the results there")


def run(args: argparse.Namespace, runner: Runner = LaunchTestRunner) -> int:
    """Run the file; returns 0 when all tests passed, else 1, and 2 where there is nothing to run."""
    path = Path(args.test_file)
    name = args.package_name or path.name
    try:
        runs = LoadTestsFromPythonModule(load_module(path), name=name)
        chosen = runner(runs, args.launch_arguments, args.verbose)
        if args.show_args:
            _print_arguments(runs)
            return 0
        chosen.validate()
    except (AttributeError, OSError, TypeError, ValueError) as error:
        if args.verbose:
            raise
        sys.stderr.write(f"{path}: {error}\n")
        return NOT_RUN
    except Exception as error:  # a test file is a program: it may raise anything
        if args.verbose:
            raise
        from ros2cli.verbs.launch.main import told_place

        sys.stderr.write(f"{told_place(error, str(path))} (--verbose shows where)\n")
        return NOT_RUN
    results = chosen.run()
    if args.junit_xml:
        named = {str(run): result for run, result in results.items()}
        tree = unittestResultsToXml(name=name, test_results=named)
        tree.write(args.junit_xml, encoding="utf-8", xml_declaration=True)
    return 0 if all(result.wasSuccessful() for result in results.values()) else 1


def _print_arguments(runs: Iterable[Any]) -> None:
    from ros2cli.verbs.launch.main import print_arguments

    for run in runs:
        print_arguments(run.describe(lambda: None)[0])


def main(argv: list[str] | None = None) -> int:
    """Run `launch_test` with these arguments (the process's own by default) and return the exit code."""
    parser = argparse.ArgumentParser(prog="launch_test", description="Run a file of launch tests.")
    add_arguments(parser)
    return run(parser.parse_intermixed_args(argv))


if __name__ == "__main__":
    sys.exit(main())
