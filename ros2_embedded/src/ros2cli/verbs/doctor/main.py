"""ros2 doctor."""

from __future__ import annotations

import argparse

from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument(
        "-r", "--report", action="store_true", help="print all that is known, and check nothing"
    )
    shown.add_argument(
        "-rf",
        "--report-failed",
        action="store_true",
        help="then print what is known of what failed",
    )
    parser.add_argument(
        "-ep", "--exclude-packages", action="store_true", help="leave out the versions of packages"
    )
    parser.add_argument("-iw", "--include-warnings", action="store_true", help="let warnings fail, too")


def main(args: argparse.Namespace) -> int:
    """Run the checks and say which failed; the exit code is 0 only if none did."""
    from ros2doctor.api import generate_reports, run_checks
    from ros2doctor.api.format import format_print

    if args.report:
        for report in generate_reports(exclude_packages=args.exclude_packages):
            format_print(report)
        return 0
    failed, failures, total = run_checks(
        include_warnings=args.include_warnings, exclude_packages=args.exclude_packages
    )
    if not failures:
        write(f"\nAll {total} checks passed\n")
        return 0
    write(f"\n{failures}/{total} check(s) failed\n\nFailed modules: {' '.join(sorted(failed))}\n")
    if args.report_failed:
        for report in generate_reports(categories=failed, exclude_packages=args.exclude_packages):
            format_print(report)
    return 1
