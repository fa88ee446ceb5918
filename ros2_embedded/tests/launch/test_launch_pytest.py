"""Files of tests with `launch_pytest`, run by pytest."""

from __future__ import annotations

from typing import Any

import pytest

FUNCTION_SCOPE = """
@pytest.fixture
def dut():
    return talker()


@launch_pytest.fixture
def launch_description(dut):
    return LaunchDescription([dut, ReadyToTest()])


@pytest.mark.launch(fixture=launch_description, shutdown=True)
def test_after(order, dut, launch_service):
    order.append("after")
    assert dut.return_code is not None
    assert launch_service.event_loop is None


@pytest.mark.launch(fixture=launch_description, shutdown=True)
async def test_after_as_coroutine(order, dut):
    order.append("async after")
    await asyncio.sleep(0)
    assert dut.return_code is not None


@pytest.mark.launch(fixture=launch_description)
def test_plain(order, dut, launch_service, launch_context, event_loop):
    order.append("plain")
    assert launch_service.event_loop is event_loop
    assert launch_service.context is launch_context
    with pytest.raises(RuntimeError):
        asyncio.get_running_loop()
    assert tools.wait_for_start_sync(launch_context, dut, timeout=30)
    assert dut.return_code is None


@pytest.mark.launch(fixture=launch_description)
async def test_coroutine(order, dut, launch_context, event_loop):
    order.append("async")
    assert asyncio.get_running_loop() is event_loop
    assert await tools.wait_for_start(launch_context, dut, timeout=30)


@pytest.mark.launch(fixture=launch_description)
def test_generator(order, dut, launch_context):
    order.append("generator")
    assert process_tools.wait_for_output_sync(launch_context, dut, lambda text: "out" in text, timeout=30)
    yield
    order.append("generator after")
    assert dut.get_stdout().split() == ["out", "bye"]
    assert process_tools.wait_for_exit_sync(launch_context, dut)


@pytest.mark.launch(fixture=launch_description)
async def test_async_generator(order, dut, launch_context):
    order.append("async generator")
    assert await tools.wait_for_output(launch_context, dut, lambda text: "out" in text, timeout=30)
    yield
    order.append("async generator after")
    await asyncio.sleep(0)
    assert dut.return_code == 0


def test_order(order):
    assert order == ["after", "async after", "plain", "async", "generator", "generator after",
                     "async generator", "async generator after"]
"""


def test_each_kind_of_function_runs_beside_or_after_its_own_launch(user_tests: Any) -> None:
    output = user_tests.run(FUNCTION_SCOPE)
    assert user_tests.outcomes(output) == "7 passed", output


MODULE_SCOPE = """
@launch_pytest.fixture(scope="module", params=["one", "two"])
def system(request):
    yield LaunchDescription([talker()]), request.param, set()


@pytest.mark.launch(fixture=system, shutdown=True)
def test_after(system, order, launch_service):
    order.append("after " + system[1])
    assert launch_service.event_loop is None


@pytest.mark.launch(fixture=system)
def test_plain(system, order, launch_service):
    order.append("plain " + system[1])
    system[2].add(launch_service.task)


@pytest.mark.launch(fixture=system)
@pytest.mark.parametrize("number", [1])
def test_generator(system, order, number, launch_service):
    order.append("generator " + system[1])
    assert launch_service.task in system[2]
    yield
    order.append("generator after " + system[1])


@pytest.mark.launch(fixture=system)
async def test_async_generator(system, order, launch_service):
    order.append("async generator " + system[1])
    yield
    order.append("async generator after " + system[1])
    assert launch_service.event_loop is None


def test_order(order):
    words = ["plain", "generator", "async generator", "after", "generator after", "async generator after"]
    assert order == [word + " " + name for name in ("one", "two") for word in words]
"""


def test_tests_of_a_module_share_a_launch(user_tests: Any) -> None:
    output = user_tests.run(MODULE_SCOPE, "-v")
    assert user_tests.outcomes(output) == "13 passed", output
    assert "::test_generator[one-1][shutdown_test] PASSED" in output


CLASS_SCOPE = """
@launch_pytest.fixture(scope="class")
def system():
    return LaunchDescription([talker()])


@pytest.fixture(scope="class")
def service(launch_service):
    return launch_service


@pytest.mark.launch(fixture=system)
class TestFirst:
    seen = set()

    @pytest.mark.launch(fixture=system, shutdown=True)
    def test_after(self, service):
        assert len(self.seen) == 1
        assert service.event_loop is None

    def test_plain(self, service):
        self.seen.add(service.task)

    async def test_coroutine(self, service):
        self.seen.add(service.task)

    def test_generator(self, service):
        self.seen.add(service.task)
        yield
        assert service.event_loop is None


class TestSecond(TestFirst):
    seen = set()

    def test_other(self):
        assert not self.seen & TestFirst.seen


class TestOwnFixture:
    @launch_pytest.fixture(scope="class")
    @classmethod
    def own(cls):
        cls.description = LaunchDescription([])
        return cls.description

    @pytest.mark.launch(fixture=own)
    def test_own(self, own):
        assert own is self.description


@pytest.mark.launch(fixture=system)
def test_without_class(launch_service):
    assert launch_service.task is not None
    yield
    assert launch_service.task is None
"""


@pytest.mark.slow
def test_tests_of_a_class_share_a_launch(user_tests: Any) -> None:
    output = user_tests.run(CLASS_SCOPE)
    assert user_tests.outcomes(output) == "13 passed", output


CONFTEST = """
import launch_pytest
from launch import LaunchDescription


@launch_pytest.fixture(scope="module", name="named")
def of_all():
    return LaunchDescription([])
"""
USES_CONFTEST = """
from conftest import of_all

pytestmark = [pytest.mark.launch(fixture=of_all)]


@pytest.fixture(scope="module")
def context(launch_context):
    return launch_context


def test_one(context, named, launch_service):
    assert context is launch_service.context


def test_two(context, launch_service):
    assert context is launch_service.context
"""


@pytest.mark.slow
def test_a_fixture_may_lie_in_another_file(user_tests: Any) -> None:
    (user_tests.folder / "conftest.py").write_text(CONFTEST)
    output = user_tests.run(USES_CONFTEST)
    assert user_tests.outcomes(output) == "2 passed", output


@pytest.mark.slow
def test_files_without_the_mark_load_no_launch(user_tests: Any) -> None:
    body = "import sys\n\n\ndef test_it():\n    assert 'launch' not in sys.modules\n"
    output = user_tests.run(body, header="")
    assert user_tests.outcomes(output) == "1 passed", output
