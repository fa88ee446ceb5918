"""Tests with `launch_pytest` that wait for processes and for the end of the launch."""

from __future__ import annotations

from typing import Any

OUTPUT = """
@pytest.fixture
def dut():
    return talker()


@launch_pytest.fixture
def system(dut):
    return LaunchDescription([dut])


def out(text):
    assert text.splitlines() == ["out"]


def err(text):
    assert text.splitlines() == ["err"], "not what was written"


@pytest.mark.launch(fixture=system)
def test_blocking(dut, launch_context):
    tools.assert_output_sync(launch_context, dut, out, timeout=30)
    tools.assert_stderr_sync(launch_context, dut, err, timeout=30)
    assert tools.wait_for_stderr_sync(launch_context, dut, lambda text: "err" in text, timeout=30)
    assert tools.wait_for_output_sync(launch_context, dut, out, timeout=0.05) is False
    assert tools.wait_for_exit_sync(launch_context, dut, timeout=0.05) is False
    with pytest.raises(AssertionError, match="not what was written"):
        tools.assert_output_sync(launch_context, dut, err, timeout=0.05)
    with pytest.raises(AssertionError, match="the stdout of the process is not as it should be: 'out"):
        tools.assert_output_sync(launch_context, dut, lambda text: False, timeout=0.05)


@pytest.mark.launch(fixture=system)
async def test_coroutine(dut, launch_context, launch_service):
    await tools.assert_output(launch_context, dut, out, timeout=30)
    await tools.assert_stderr(launch_context, dut, err, timeout=30)
    assert await tools.wait_for_stderr(launch_context, dut, lambda text: "err" in text, timeout=30)
    with pytest.raises(RuntimeError, match="write 'await wait_for_exit"):
        tools.wait_for_exit_sync(launch_context, dut)
    launch_service.shutdown()
    assert await tools.wait_for_exit(launch_context, dut)
    assert not await tools.wait_for_output(launch_context, dut, lambda text: "never" in text)


@pytest.fixture
def absent():
    return ExecuteProcess(cmd=["/does/not/exist"], cached_output=True)


@launch_pytest.fixture
def nothing(absent):
    return LaunchDescription([absent])


@pytest.mark.launch(fixture=nothing)
def test_a_process_that_does_not_start(absent, launch_context):
    assert not tools.wait_for_start_sync(launch_context, absent)
    assert tools.wait_for_exit_sync(launch_context, absent)
"""


def test_output_is_waited_for(user_tests: Any) -> None:
    output = user_tests.run(OUTPUT)
    assert user_tests.outcomes(output) == "3 passed", output


ENDS = """
@pytest.fixture
def brief():
    return ExecuteProcess(cmd=[sys.executable, "-c", "print('said'); raise SystemExit(3)"],
                          cached_output=True, on_exit=[launch.actions.Shutdown()])


@launch_pytest.fixture(auto_shutdown=False)
def system(brief):
    return LaunchDescription([brief])


@pytest.mark.launch(fixture=system)
async def test_end(brief, launch_service):
    await launch_service.task
    assert brief.return_code == 3


@pytest.mark.launch(fixture=system, shutdown=True)
def test_after(brief, launch_context):
    assert brief.return_code == 3
    tools.assert_output_sync(launch_context, brief, lambda text: text.split() == ["said"])


@launch_pytest.fixture(shutdown_when_idle=False)
def idle():
    return LaunchDescription([])


@pytest.mark.launch(fixture=idle)
async def test_idle(launch_service):
    await asyncio.sleep(0.2)
    assert launch_service.task is not None
"""


def test_a_launch_may_end_by_itself(user_tests: Any) -> None:
    output = user_tests.run(ENDS)
    assert user_tests.outcomes(output) == "3 passed", output
