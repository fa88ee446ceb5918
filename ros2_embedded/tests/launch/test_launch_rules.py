"""Rules of launch that tests of other people rely on: inclusions, loops, events, the loop of the service."""

from __future__ import annotations

import asyncio
import io
import os
import re
import sys
import textwrap
import warnings
from pathlib import Path
from unittest import mock

import pytest

from launch import LaunchContext, LaunchDescription, LaunchDescriptionSource, LaunchService
from launch.actions import (
    AppendEnvironmentVariable,
    DeclareLaunchArgument,
    ExecuteProcess,
    ForEach,
    ForLoop,
    IncludeLaunchDescription,
    LogInfo,
    OpaqueFunction,
    RegisterEventHandler,
    ResetLaunchConfigurations,
    SetLaunchConfiguration,
    Shutdown,
    TimerAction,
)
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown as ShutdownEvent
from launch.frontend import Parser
from launch.frontend.parser import importlib_metadata
from launch.substitutions import AnonName, LaunchConfiguration, ThisLaunchFileDir


def run(*entities: object) -> int:
    """Run a description to its end and return the exit code."""
    service = LaunchService()
    service.include_launch_description(LaunchDescription(list(entities)))
    return service.run()


def include(entities: list[object], **arguments: str) -> IncludeLaunchDescription:
    source = LaunchDescriptionSource(LaunchDescription(entities))
    return IncludeLaunchDescription(source, launch_arguments=arguments.items())


def test_an_inclusion_needs_the_arguments_without_defaults() -> None:
    missing = "Included launch description missing required argument 'arm'"
    for arguments in ({}, {"leg": "left"}):
        with pytest.raises(RuntimeError, match=missing):
            include([DeclareLaunchArgument("arm")], **arguments).visit(LaunchContext())
    include([DeclareLaunchArgument("arm")], arm="left").visit(LaunchContext())
    include([DeclareLaunchArgument("arm", default_value="left")]).visit(LaunchContext())


def test_what_an_inner_inclusion_gets_need_not_be_given_to_the_outer_one() -> None:
    inner = include([DeclareLaunchArgument("arm")], arm="left")
    include([inner, DeclareLaunchArgument("hand")], hand="open").visit(LaunchContext())
    # Its configurations are those of its own, so only what is set in there counts.
    inner = include([DeclareLaunchArgument("arm")])
    reset = [ResetLaunchConfigurations(), SetLaunchConfiguration("arm", "left"), inner]
    include([DeclareLaunchArgument("hand"), *reset], hand="open").visit(LaunchContext())


def test_a_parser_reads_paths_and_files(tmp_path: Path) -> None:
    file = tmp_path / "hello.launch.xml"
    file.write_text('<launch><log message="hello"/></launch>')
    for source in (file, str(file), file.open()):
        root, parser = Parser.load(source)
        (entity,) = parser.parse_description(root).entities
        assert isinstance(entity, LogInfo)


def test_plug_ins_that_cannot_be_loaded_are_told() -> None:
    point = mock.Mock()
    point.load.side_effect = ValueError("broken")
    group = {"launch.frontend.launch_extension": [point]}
    with (
        mock.patch.object(Parser, "extensions_loaded", False),
        mock.patch(f"{importlib_metadata.__name__}.entry_points", return_value=group),
        warnings.catch_warnings(record=True) as told,
    ):
        warnings.simplefilter("always")
        Parser.load_launch_extensions()
    assert ["Failed to load the launch extension" in str(entry.message) for entry in told] == [True]


def test_loops_pass_their_values() -> None:
    seen: list[str] = []

    def note(text: str) -> list[OpaqueFunction]:
        return [OpaqueFunction(function=lambda _: seen.append(text))]

    values = "{name: arm, pose: up};{name: leg}"
    assert run(ForEach(values, function=lambda name, pose="home": note(f"{name} {pose}"))) == 0
    (loop,) = ForLoop("2", function=lambda i: note(f"number {i}")).visit(LaunchContext()) or []
    assert isinstance(loop, ForEach)
    assert run(loop) == 0
    assert seen == ["arm up", "leg home", "number 0", "number 1"]


def test_elements_in_a_loop_see_its_values() -> None:
    text = """
    launch:
    - for_each:
        values: "{name: arm, pose: up};{name: leg}"
        children:
        - set_env: {name: $(for-var name), value: $(for-var pose home)}
    """
    root, parser = Parser.load(io.StringIO(textwrap.dedent(text)))
    service = LaunchService()
    service.include_launch_description(parser.parse_description(root))
    assert service.run() == 0
    assert [service.context.environment[name] for name in ("arm", "leg")] == ["up", "home"]


def test_a_variable_is_prepended_where_that_is_asked_for() -> None:
    context = LaunchContext()
    context.environment["PARTS"] = "middle"
    AppendEnvironmentVariable("PARTS", "last").visit(context)
    AppendEnvironmentVariable("PARTS", "first", prepend=True).visit(context)
    assert context.environment["PARTS"] == os.pathsep.join(["first", "middle", "last"])


def test_paths_grow_with_a_slash() -> None:
    context = LaunchContext()
    context.extend_locals({"current_launch_file_directory": "/robots"})
    path = ThisLaunchFileDir() / "config" / LaunchConfiguration("robot") / "arm.yaml"
    context.launch_configurations["robot"] = "two"
    assert path.perform(context) == os.path.join("/robots", "config", "two", "arm.yaml")


def test_output_is_text() -> None:
    process = ExecuteProcess(cmd=[sys.executable, "-c", "print('grüße')"], cached_output=True, output="log")
    texts: list[object] = []
    handler = OnProcessExit(target_action=process, on_exit=lambda *_: texts.append(process.get_stdout()))
    assert run(RegisterEventHandler(handler), process) == 0
    assert texts == ["grüße\n"]


def test_shutdown_puts_an_event_into_the_queue() -> None:
    context = LaunchContext()
    assert Shutdown(reason="enough").visit(context) is None
    assert context._event_queue.qsize() == 1
    event = context._event_queue.get_nowait()
    assert isinstance(event, ShutdownEvent)
    assert event.reason == "enough"


def test_a_run_leaves_the_loop_of_its_thread() -> None:
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        assert run(LogInfo(msg="one")) == 0
        assert asyncio.get_event_loop_policy().get_event_loop() is loop
        assert not loop.is_closed()
        service = LaunchService()
        assert loop.run_until_complete(service.run_async()) == 0
    finally:
        asyncio.set_event_loop(None)
        loop.close()


def test_a_launch_is_ended_from_its_own_loop() -> None:
    service = LaunchService()
    service.include_launch_description(LaunchDescription([TimerAction(period=600.0, actions=[])]))

    async def start_and_end() -> int:
        task = asyncio.ensure_future(service.run_async())
        await asyncio.sleep(0.1)
        await service.shutdown()
        return await task

    assert asyncio.run(start_and_end()) == 0


def test_choices_and_defaults_of_an_argument() -> None:
    argument = DeclareLaunchArgument("side", description="which arm", choices=["left", "right"])
    assert "['left', 'right']" in argument.description
    with pytest.raises(ValueError, match="default 'top' is not among"):
        DeclareLaunchArgument("side", default_value="top", choices=["left", "right"])
    context = LaunchContext()
    context.launch_configurations["side"] = "top"
    with pytest.raises(RuntimeError, match="Valid options are: "):
        argument.visit(context)


def test_an_anonymous_name_stays_the_same_within_a_launch() -> None:
    context = LaunchContext()
    name = AnonName("arm").perform(context)
    assert re.fullmatch(rf"arm_{os.getpid()}_\d+", name)
    assert AnonName("arm").perform(context) == name
    assert AnonName("arm").perform(LaunchContext()) != name
