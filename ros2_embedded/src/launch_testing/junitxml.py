"""Results as a file that build servers read."""

from __future__ import annotations

import unittest
from collections.abc import Mapping
from xml.etree import ElementTree

from .test_result import failures_of


def unittestResultsToXml(
    *, name: str = "launch_test", test_results: Mapping[str, unittest.TestResult] | None = None
) -> ElementTree.ElementTree:
    """Return results, by the name of the run, as the XML of JUnit."""
    root = ElementTree.Element("testsuites", name=name)
    for run, result in (test_results or {}).items():
        _add_suite(root, run, result)
    for count in ("tests", "failures", "errors"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in root)))
    return ElementTree.ElementTree(root)


def _add_suite(root: ElementTree.Element, run: str, result: unittest.TestResult) -> None:
    failures = dict(failures_of(result))
    errors = {test.id() for test, _ in result.errors}
    skipped = {test.id(): reason for test, reason in result.skipped}
    durations: Mapping[str, float] = getattr(result, "durations", {})
    names = list(dict.fromkeys([*durations, *failures]))
    suite = ElementTree.SubElement(root, "testsuite", name=run, tests=str(len(names)))
    suite.set("errors", str(len(errors)))
    suite.set("failures", str(len(failures) - len(errors)))
    suite.set("skipped", str(len(skipped)))
    suite.set("time", f"{sum(durations.values()):.3f}")
    for name in names:
        place, _, test = name.rpartition(".")
        seconds = f"{durations.get(name, 0.0):.3f}"
        case = ElementTree.SubElement(suite, "testcase", classname=place or run, name=test, time=seconds)
        if name in failures:
            kind = "error" if name in errors else "failure"
            told = ElementTree.SubElement(case, kind, message=failures[name].strip().splitlines()[-1])
            told.text = failures[name]
        elif name in skipped:
            ElementTree.SubElement(case, "skipped", message=skipped[name])
