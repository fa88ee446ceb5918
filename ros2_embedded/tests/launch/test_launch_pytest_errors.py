"""What pytest says of tests with `launch_pytest` that fail, and of misuse."""

from __future__ import annotations

from typing import Any

import pytest

FAILURES = """
@launch_pytest.fixture{scope}
def system():
    return LaunchDescription([ReadyToTest()])


@pytest.mark.launch(fixture=system)
def test_twice():
    yield
    yield


@pytest.mark.launch(fixture=system)
async def test_twice_async():
    yield
    yield


@pytest.mark.launch(fixture=system)
def test_before():
    assert "sync" == "before"
    yield


@pytest.mark.launch(fixture=system)
async def test_before_async():
    assert "async" == "before"
    yield


@pytest.mark.launch(fixture=system)
async def test_coroutine():
    pytest.fail("from the loop")


@pytest.mark.launch(fixture=system, shutdown=True)
def test_with_shutdown():
    yield


@pytest.mark.launch(fixture=system)
async def test_skips():
    pytest.skip("by itself")
"""


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ("", "6 failed, 1 skipped"),
        pytest.param("(scope='module')", "6 failed, 2 passed, 3 skipped", marks=pytest.mark.slow),
    ],
)
def test_failures_are_those_of_the_tests(user_tests: Any, scope: str, expected: str) -> None:
    output = user_tests.run(FAILURES.format(scope=scope))
    assert user_tests.outcomes(output) == expected, output
    assert output.count("a launch test must stop iteration after yielding once") >= 2
    assert "assert 'async' == 'before'" in output
    assert "generator or async generator cannot be marked with shutdown=True" in output
    assert "by itself" in output


MISUSE = """
@launch_pytest.fixture
def other():
    return object()


@launch_pytest.fixture
def sequence():
    return [object(), 1]


@launch_pytest.fixture
def ready():
    return LaunchDescription([ReadyToTest(), ReadyToTest()])


def fails(context):
    raise ValueError("cannot describe")


@launch_pytest.fixture
def early():
    return LaunchDescription([launch.actions.OpaqueFunction(function=fails), ReadyToTest()])


@launch_pytest.fixture(auto_shutdown=False)
def late(tmp_path):
    return LaunchDescription([ReadyToTest(), launch.actions.TimerAction(
        period=0.1, actions=[launch.actions.OpaqueFunction(function=fails)])])


@launch_pytest.fixture
def ends():
    never = launch.actions.TimerAction(period=1000.0, actions=[ReadyToTest()])
    return LaunchDescription([never, launch.actions.Shutdown()])


@pytest.mark.launch(fixture=other)
def test_other():
    pass


@pytest.mark.launch(fixture=sequence)
def test_sequence():
    pass


@pytest.mark.launch(fixture=ready)
def test_ready():
    pass


@pytest.mark.launch(fixture=early)
def test_early():
    pass


@pytest.mark.launch(fixture=ends)
def test_ends():
    pass


@pytest.mark.launch(fixture=late)
def test_late():
    yield


@pytest.mark.launch
def test_without_fixture():
    pass
"""


@pytest.mark.slow
def test_misuse_is_told(user_tests: Any) -> None:
    output = user_tests.run(MISUSE)
    assert user_tests.outcomes(output) == "1 failed, 1 skipped, 1 warning, 5 errors", output
    for told in (
        "'other' must be either a launch description or a sequence that begins with one, but it returned: "
        "object\n",
        "'sequence' must be either a launch description or a sequence that begins with one, but it returned: "
        "list of object\n",
        "'ready' may have only one ReadyToTest action, but it has 2",
        "the launch of fixture 'early' ended before it was ready to be tested: cannot describe",
        "the launch of fixture 'ends' ended before it was ready to be tested\n",
        "the launch of fixture 'late' failed: cannot describe",
        '"fixture" keyword argument is required in @pytest.mark.launch(fixture=...)',
    ):
        assert told in output


@pytest.mark.slow
def test_a_mark_with_something_else_is_an_error(user_tests: Any) -> None:
    output = user_tests.run("@pytest.mark.launch(fixture='system')\ndef test_it():\n    pass\n")
    assert user_tests.outcomes(output) == "1 error", output
    assert "must be a function decorated with @launch_pytest.fixture, not 'system'" in output


TWO_LAUNCHES = """
@launch_pytest.fixture(scope="module")
def one():
    return LaunchDescription([talker()])


@launch_pytest.fixture(scope="module")
def two():
    return LaunchDescription([])


@pytest.mark.launch(fixture=one)
def test_one():
    pass


@pytest.mark.launch(fixture=two)
def test_two():
    pass
"""


@pytest.mark.slow
def test_one_service_runs_one_launch_at_a_time(user_tests: Any) -> None:
    output = user_tests.run(TWO_LAUNCHES)
    assert user_tests.outcomes(output) == "1 passed, 1 error", output
    assert "its launch_service runs the launch of another fixture" in output


INTERRUPTED = """
import os
import signal


@launch_pytest.fixture
def system():
    return LaunchDescription([ExecuteProcess(cmd=["/bin/sh", "-c", "echo $$ > sleeps.pid; exec sleep 1000"])])


@pytest.mark.launch(fixture=system)
async def test_it():
    while not (os.path.exists("sleeps.pid") and open("sleeps.pid").read()):
        await asyncio.sleep(0.02)
    os.kill(os.getpid(), signal.SIGINT)
    await asyncio.sleep(1000)
"""


def test_ctrl_c_leaves_no_process(user_tests: Any, launcher: Any) -> None:
    output = user_tests.run(INTERRUPTED)
    assert "KeyboardInterrupt" in output
    assert not launcher.alive(int((user_tests.folder / "sleeps.pid").read_text()))
