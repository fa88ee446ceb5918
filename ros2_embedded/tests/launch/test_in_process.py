"""Launches run inside the test: what actions, events and the service do."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

import pytest

from launch import (
    Action,
    EventHandler,
    LaunchContext,
    LaunchDescription,
    LaunchDescriptionSource,
    LaunchService,
)
from launch.actions import (
    EmitEvent,
    ExecuteProcess,
    GroupAction,
    IncludeLaunchDescription,
    OpaqueFunction,
    RegisterEventHandler,
    SetEnvironmentVariable,
    SetLaunchConfiguration,
    Shutdown,
    TimerAction,
)
from launch.descriptions import Executable
from launch.event_handlers import OnProcessExit, OnProcessStart, OnShutdown
from launch.events import Shutdown as ShutdownEvent
from launch.events.process import ProcessStdin
from launch.launch_description_sources import (
    FrontendLaunchDescriptionSource,
    InvalidPythonLaunchFileError,
    PythonLaunchDescriptionSource,
    get_launch_description_from_frontend_launch_file,
)
from launch.substitutions import LaunchConfiguration
from launch.utilities import (
    create_future,
    is_a,
    is_not_a,
    perform_substitutions,
    visit_all_entities_and_collect_futures,
)
from launch.utilities.class_tools_impl import isclassinstance
from launch.utilities.signal_management import AsyncSafeSignalManager


def run(*entities):
    service = LaunchService()
    service.include_launch_description(LaunchDescription(entities))
    return service.run(), service


def python(script, **options):
    return ExecuteProcess(cmd=[sys.executable, "-S", "-c", script], **options)


class TestService:
    def test_a_service_runs_again_and_handles_what_came_in_between(self):
        seen = []
        handler = EventHandler(
            matcher=lambda event: isinstance(event, ShutdownEvent),
            entities=OpaqueFunction(function=lambda context: seen.append(context.locals.event.reason)),
        )
        service = LaunchService()
        service.include_launch_description(LaunchDescription([RegisterEventHandler(handler)]))
        assert service.run() == 0
        service.emit_event(ShutdownEvent(reason="between"))
        assert service.run() == 0
        assert asyncio.run(service.run_async()) == 0
        assert seen == ["idle", "between", "idle"]

    def test_an_error_in_a_shutdown_handler_ends_the_launch_once(self):
        calls = []

        def fail(event, context):
            calls.append(event)
            raise RuntimeError("no")

        code, _ = run(RegisterEventHandler(OnShutdown(on_shutdown=fail)))
        assert code == 1
        assert len(calls) == 1

    def test_every_shutdown_reaches_the_handlers(self):
        reasons = []
        listen = RegisterEventHandler(OnShutdown(on_shutdown=lambda event, _: reasons.append(event.reason)))
        late = TimerAction(period=0.05, actions=[Shutdown(reason="late")], cancel_on_shutdown=False)
        assert run(listen, late, Shutdown(reason="first"))[0] == 0
        assert reasons == ["first", "late"]

    def test_log_file_name(self):
        service = LaunchService(log_file_name="mine")
        assert (service._log_file_name, service._logger_name) == ("mine.log", "mine")
        LaunchService()


class TestTimer:
    def test_actions_see_the_scope_the_timer_was_started_in(self):
        seen = []

        def look(context):
            seen.append((LaunchConfiguration("x").perform(context), context.environment["IN_GROUP"]))

        group = GroupAction(
            [
                SetLaunchConfiguration("x", "inside"),
                SetEnvironmentVariable("IN_GROUP", "yes"),
                TimerAction(period=0.01, actions=[OpaqueFunction(function=look)]),
            ]
        )
        code, service = run(group)
        assert code == 0
        assert seen == [("inside", "yes")]
        assert "x" not in service.context.launch_configurations
        assert "IN_GROUP" not in service.context.environment

    def test_cancelled_before_it_starts(self):
        timer = TimerAction(period=1000.0, actions=[])
        timer.cancel()
        assert run(timer)[0] == 0


class TestProcess:
    def test_details_are_known_from_the_visit_on(self):
        process = python("pass", name="p", additional_env={"EXTRA": "1"})
        assert process.process_details is None
        assert run(process)[0] == 0
        details = process.process_details
        assert details["cmd"][0] == sys.executable
        assert details["env"]["EXTRA"] == "1"
        assert details["name"].startswith("p-")
        assert details["pid"] > 0
        assert process.return_code == 0

    def test_entities_of_on_exit(self):
        action = OpaqueFunction(function=lambda context: None)
        assert python("pass", on_exit=[action]).get_sub_entities() == [action]
        assert python("pass", on_exit=lambda event, context: None).get_sub_entities() == []

    def test_executable_has_what_it_was_given(self):
        executable = Executable(cmd=["a"], arguments=["b"], prefix="c", cwd="/", env={"K": "v"}, name="n")
        executable.prepare(LaunchContext(), None)
        assert executable.final_cmd == ["c", "a", "b"]
        assert executable.final_env == {"K": "v"}
        assert executable.final_name.startswith("n-")
        assert executable.final_cwd == "/"
        assert executable.additional_env is None
        assert executable.prefix[0].text == "c"
        assert executable.arguments[0][0].text == "b"

    def test_command_line_of_markup_splits_at_blanks_only(self):
        class Plain:
            def parse_substitution(self, text):
                from launch.frontend import parse_substitution

                return parse_substitution(text)

        words = ExecuteProcess._parse_cmdline("run $(env NOPE a)b/c  d", Plain())
        assert [perform_substitutions(LaunchContext(), word) for word in words] == ["run", "ab/c", "d"]

    @pytest.mark.parametrize("target", ["text", 5])
    def test_on_process_exit_wants_a_process(self, target):
        with pytest.raises((TypeError, ValueError)):
            OnProcessExit(target_action=target, on_exit=[])


class TestInclude:
    def test_location(self, tmp_path):
        path = tmp_path / "x.launch.py"
        path.write_text("")
        for location, expected in (("<script>", "<script>"), (path, str(tmp_path)), ("", None)):
            context = LaunchContext()
            IncludeLaunchDescription(LaunchDescriptionSource(LaunchDescription(), location)).visit(context)
            assert context.locals.current_launch_file_directory == expected

    def test_arguments_come_first(self):
        action = IncludeLaunchDescription(
            LaunchDescriptionSource(LaunchDescription()), launch_arguments={"foo": "1"}.items()
        )
        first = action.visit(LaunchContext())[0]
        assert perform_substitutions(LaunchContext(), first.name) == "foo"
        assert perform_substitutions(LaunchContext(), first.value) == "1"

    def test_front_end_files(self, tmp_path):
        path = tmp_path / "f.launch.xml"
        path.write_text("<launch><arg name='a'/></launch>")
        description = get_launch_description_from_frontend_launch_file(str(path))
        assert [argument.name for argument in description.get_launch_arguments()] == ["a"]
        source = FrontendLaunchDescriptionSource(str(path))
        assert len(source.get_launch_description(LaunchContext()).entities) == 1

    def test_python_file_without_description(self, tmp_path):
        path = tmp_path / "f.launch.py"
        path.write_text("")
        with pytest.raises(InvalidPythonLaunchFileError, match="generate_launch_description"):
            PythonLaunchDescriptionSource(str(path)).get_launch_description(LaunchContext())


class TestUtilities:
    def test_visit_all(self):
        future = asyncio.new_event_loop().create_future()

        class Waits(Action):
            def get_asyncio_future(self):
                return future

        waits = Waits()
        inner = GroupAction([SetLaunchConfiguration("x", "1"), waits], scoped=False)
        context = LaunchContext()
        assert visit_all_entities_and_collect_futures(LaunchDescription([inner]), context) == [
            (waits, future)
        ]
        assert context.launch_configurations == {"x": "1"}

    def test_create_future(self):
        loop = asyncio.new_event_loop()
        assert create_future(loop).get_loop() is loop

    def test_class_checks(self):
        assert is_a(1, int)
        assert is_not_a(1, str)
        assert isclassinstance(LaunchContext())
        assert not isclassinstance(LaunchContext)

    def test_signals_reach_the_loop_inside_the_context_only(self):
        loop = asyncio.new_event_loop()
        outer = []
        before = signal.signal(signal.SIGUSR1, lambda *_: outer.append(1))
        try:
            manager = AsyncSafeSignalManager(loop)
            got = loop.create_future()
            assert manager.handle(signal.SIGUSR1, got.set_result) is None
            with manager:
                os.kill(os.getpid(), signal.SIGUSR1)
                assert loop.run_until_complete(got) is signal.SIGUSR1
                assert manager.handle(signal.SIGUSR1, None) == got.set_result
                os.kill(os.getpid(), signal.SIGUSR1)
                again = loop.create_future()
                manager.handle(signal.SIGUSR1, again.set_result)
            os.kill(os.getpid(), signal.SIGUSR1)
            loop.run_until_complete(asyncio.sleep(0))
            assert not again.done()
            assert len(outer) == 3
        finally:
            signal.signal(signal.SIGUSR1, before)


def test_emitted_shutdown_event_ends_the_launch():
    code, service = run(
        EmitEvent(event=ShutdownEvent(reason="now", return_code=4)), python("import time; time.sleep(600)")
    )
    assert code == 4
    assert service.context.is_shutdown


def written_to(process, data, *then):
    """A launch of a process that gets bytes once it runs."""
    event = ProcessStdin(text=data, action=process, name="it", cmd=[], cwd=None, env=None, pid=0)
    start = OnProcessStart(target_action=process, on_start=[EmitEvent(event=event), *then])
    return run(RegisterEventHandler(start), process)


@pytest.mark.timeout(60)
def test_more_input_than_a_pipe_holds_does_not_hold_the_launch_up():
    # One that reads and answers, so that both pipes are full at times.
    reader = python("import sys; sys.stdout.write(sys.stdin.read(300000))", cached_output=True)
    assert written_to(reader, b"x" * 300_000)[0] == 0
    assert reader.get_stdout() == "x" * 300_000
    # One that never reads, and one that closes its input.
    deaf = ExecuteProcess(cmd=["sleep", "100"])
    assert written_to(deaf, b"x" * 300_000, TimerAction(period=0.2, actions=[Shutdown()]))[0] == 0
    closed = python("import os, time; os.close(0); time.sleep(0.2)")
    assert written_to(closed, b"x" * 300_000)[0] == 0
