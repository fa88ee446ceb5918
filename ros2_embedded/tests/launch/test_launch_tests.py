"""Files of launch tests, run by `launch_test`, `ros2 test` and pytest."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from xml.etree import ElementTree

import pytest

HEADER = """
import os
import sys
import unittest

import launch
import launch_testing
import launch_testing.actions
import launch_testing.asserts
import launch_testing.markers
import pytest
from launch.actions import ExecuteProcess
from launch_testing.asserts import assertSequentialStdout

LOOP = '''
import signal, sys, time
signal.signal(signal.SIGINT, lambda *_: (print("Shutting Down", flush=True), sys.exit(0)))
print("Starting Up", flush=True)
for n in range(10000):
    print("Loop %d" % n, flush=True)
    time.sleep(0.05)
'''
"""
GOOD = """
process = ExecuteProcess(cmd=[sys.executable, "-c", LOOP])


@pytest.mark.launch_test
def generate_test_description():
    return launch.LaunchDescription([process, launch_testing.actions.ReadyToTest()]), {"dut": process}


class TestGoodProcess(unittest.TestCase):
    @classmethod
    def setUpClass(cls, dut):
        cls.given, cls.ended = dut, False

    @classmethod
    def tearDownClass(cls):
        assert not cls.ended, "once"
        cls.ended = True

    def test_count(self, dut, proc_output):
        assert self.given is dut
        self.proc_info.assertWaitForStartup(dut)
        for n in range(4):
            proc_output.assertWaitFor("Loop %d" % n, process=dut, timeout=30)
        assert not proc_output.waitFor("never", timeout=0.1)


@launch_testing.post_shutdown_test()
class TestOutput(unittest.TestCase):
    def test_exit_code(self):
        launch_testing.asserts.assertExitCodes(self.proc_info)

    def test_output(self, dut):
        with assertSequentialStdout(self.proc_output, dut) as cm:
            cm.assertInStdout("Starting Up")
            cm.assertInStdout("Loop 1")
            cm.assertInStdout("Shutting Down")
        with self.assertRaisesRegex(AssertionError, "'Loop 2' not found"):
            with assertSequentialStdout(self.proc_output, dut) as cm:
                cm.assertInStdout("Loop 3")
                cm.assertInStdout("Loop 2")
"""


def write(folder: Path, body: str, name: str = "system.test.py") -> Path:
    path = folder / name
    path.write_text(HEADER + textwrap.dedent(body))
    return path


def run(folder: Path, *command: str) -> tuple[int, str]:
    environment = {**os.environ, "ROS_LOG_DIR": str(folder / "log"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-m", *command],
        env=environment,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=200,
        check=False,
    )
    return done.returncode, done.stdout


def test_a_system_is_tested_while_it_runs_and_afterwards(tmp_path: Path) -> None:
    path, results = write(tmp_path, GOOD), tmp_path / "results.xml"
    code, output = run(tmp_path, "launch_testing.launch_test", str(path), "--junit-xml", str(results))
    assert code == 0, output
    assert "Ran 3 tests" in output
    suite = ElementTree.parse(results).getroot()[0]
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == ("system.test.py", "3", "0")


def test_failures_are_told_with_what_the_processes_wrote(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """
        def generate_test_description():
            bad = ExecuteProcess(cmd=["/bin/sh", "-c", "echo said; exit 3"])
            return launch.LaunchDescription([bad, launch_testing.util.KeepAliveProc(),
                                             launch_testing.actions.ReadyToTest()])

        class TestBad(unittest.TestCase):
            def test_output(self):
                self.proc_info.assertWaitForShutdown("sh", cmd_args="echo said; exit 3", timeout=30)

        @launch_testing.post_shutdown_test()
        class TestAfter(unittest.TestCase):
            def test_codes(self):
                launch_testing.asserts.assertExitCodes(self.proc_info, process="keep_alive")
                launch_testing.asserts.assertExitCodes(self.proc_info)
        """,
    )
    results = tmp_path / "results.xml"
    code, output = run(tmp_path, "launch_testing.launch_test", str(path), "--junit-xml", str(results))
    assert code == 1, output
    assert "exited with code 3" in output
    assert "said" in output
    assert "exited with code 3" in results.read_text()


@pytest.mark.slow
def test_a_launch_that_ends_too_early_or_is_never_ready_fails(tmp_path: Path) -> None:
    ends = """
        def generate_test_description():
            return launch.LaunchDescription([launch_testing.actions.ReadyToTest()])

        class TestIt(unittest.TestCase):
            def test_wait(self):
                self.proc_output.assertWaitFor("never", timeout=100)
        """
    code, output = run(tmp_path, "launch_testing.launch_test", str(write(tmp_path, ends)))
    assert code == 1, output
    assert "the launch ended before the tests did" in output
    never = """
        @launch_testing.ready_to_test_action_timeout(0.2)
        @launch_testing.markers.keep_alive
        def generate_test_description(ready_fn):
            return launch.LaunchDescription([])
        """
    code, output = run(tmp_path, "launch_testing.launch_test", str(write(tmp_path, never)))
    assert code == 1, output
    assert "nothing was ready to be tested within 0.2 s" in output
    without = "def generate_test_description():\n    return launch.LaunchDescription([])\n"
    code, output = run(tmp_path, "launch_testing.launch_test", str(write(tmp_path, without)))
    assert code == 2, output
    assert "containing a ReadyToTest action" in output


ARGUMENTS = """
@launch_testing.parametrize("word", ["one", "two"])
@launch_testing.markers.keep_alive
def generate_test_description(word):
    before = launch.substitutions.LaunchConfiguration("before")
    said = [before, " ", word, " in ", os.environ["ROS_DOMAIN_ID"]]
    return launch.LaunchDescription([
        launch.actions.DeclareLaunchArgument("before", description="what comes first"),
        ExecuteProcess(cmd=["echo", said]),
        launch_testing.actions.ReadyToTest(),
    ])


class TestArguments(unittest.TestCase):
    def test_words(self, word):
        self.proc_output.assertWaitFor("%s %s in" % (self.test_args["before"], word), stream="stdout")
"""


@pytest.mark.slow
def test_arguments_and_parameters(tmp_path: Path) -> None:
    path = str(write(tmp_path, ARGUMENTS))
    code, output = run(tmp_path, "ros2cli.cli", "test", path, "--show-args")
    assert code == 0, output
    assert "what comes first" in output
    code, output = run(tmp_path, "ros2cli.cli", "test", path, "before:=say")
    assert code == 0, output
    assert "Starting test run system.test.py[word=two]" in output
    assert run(tmp_path, "launch_testing.launch_test", path, "before")[0] == 2
    assert run(tmp_path, "launch_testing.launch_test", str(tmp_path / "none.py"))[0] == 2


def test_pytest_runs_what_is_marked(tmp_path: Path) -> None:
    write(tmp_path, GOOD, "test_good.py")
    write(tmp_path, GOOD.replace('"Loop %d" % n, process=dut, timeout=30', '"no", timeout=0'), "test_bad.py")
    (tmp_path / "test_plain.py").write_text("def test_plain():\n    pass\n")
    write(tmp_path, GOOD, "named.test.py")
    files = sorted(path.name for path in tmp_path.glob("*.py"))
    code, output = run(tmp_path, "pytest", "-p", "no:cacheprovider", "-q", "--strict-markers", *files)
    assert code == 1, output
    assert "1 failed, 3 passed" in output
    assert "Waiting for output timed out: 'no' did not come" in output


def test_a_description_may_be_skipped(tmp_path: Path) -> None:
    mark = "@pytest.mark.launch_test\n"
    path = write(tmp_path, GOOD.replace(mark, f'@unittest.skip("no arm here")\n{mark}'), "test_skipped.py")
    results = tmp_path / "results.xml"
    code, output = run(tmp_path, "launch_testing.launch_test", str(path), "--junit-xml", str(results))
    assert code == 0, output
    assert "Starting Up" not in output
    suite = ElementTree.parse(results).getroot()[0]
    assert [suite.get(name) for name in ("tests", "failures", "skipped")] == ["3", "0", "3"]
    assert {skipped.get("message") for skipped in suite.iter("skipped")} == {"no arm here"}
    code, output = run(tmp_path, "pytest", "-p", "no:cacheprovider", "-q", "-rs", str(path))
    assert code == 0, output
    assert "1 skipped" in output
    assert "no arm here" in output


def test_the_mark_of_ros_is_known(tmp_path: Path) -> None:
    write(tmp_path, GOOD.replace("mark.launch_test", "mark.rostest"), "test_ros.py")
    code, output = run(tmp_path, "pytest", "-p", "no:cacheprovider", "-q", "--strict-markers", "test_ros.py")
    assert code == 0, output
    assert "1 passed" in output


def test_topics_are_waited_for() -> None:
    from std_msgs.msg import String

    from launch_testing_ros import WaitForTopics

    def publish(node: object) -> None:
        publisher = node.create_publisher(String, "/waited/one", 10)  # type: ignore[attr-defined]
        publisher.publish(String(data="came"))

    with WaitForTopics([("/waited/one", String)], timeout=60.0, trigger=publish) as waiting:
        assert [message.data for message in waiting.received_messages("/waited/one")] == ["came"]
    with pytest.raises(RuntimeError, match="Did not receive messages on these topics: /waited/two"):
        WaitForTopics([("/waited/two", String)], timeout=0.1).__enter__()


def test_output_is_compared() -> None:
    import re

    from launch_testing.tools import basic_output_filter, expect_output

    text = "pid 12\nfirst\nsecond 7\n"
    assert basic_output_filter()(text) == "first\nsecond 7\n"
    assert basic_output_filter(filtered_prefixes=[], filtered_patterns=["sec.*"])(text) == "pid 12\nfirst\n"
    assert expect_output(expected_lines=["first", re.compile(r"second \d")], text=text)
    assert not expect_output(expected_lines=["first"], text=text, strict=True)
    assert expect_output(expected_text="first", lines=text.splitlines())
    with pytest.raises(ValueError, match="give one of"):
        expect_output(expected_text="a")
