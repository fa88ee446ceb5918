"""What launch files and launch tests that other people wrote rely on."""

from __future__ import annotations

import asyncio
import io
import sys
from pathlib import Path
from typing import Any

import pytest

from launch import (
    InvalidLaunchFileError,
    LaunchContext,
    LaunchDescription,
    LaunchIntrospector,
    LaunchService,
)
from launch.actions import (
    AppendEnvironmentVariable,
    DeclareLaunchArgument,
    ExecuteProcess,
    GroupAction,
    IncludeLaunchDescription,
    LogInfo,
    OpaqueFunction,
    ResetLaunchConfigurations,
    SetEnvironmentVariable,
    TimerAction,
)
from launch.conditions import LaunchConfigurationEquals
from launch.frontend import Parser
from launch.launch_description_entity import LaunchDescriptionEntity
from launch.launch_description_sources import (
    AnyLaunchDescriptionSource,
    PythonLaunchDescriptionSource,
    get_launch_description_from_any_launch_file,
    get_launch_description_from_python_launch_file,
)
from launch.substitutions import (
    AndSubstitution,
    AnySubstitution,
    EqualsSubstitution,
    IfElseSubstitution,
    OrSubstitution,
    PathJoinSubstitution,
    SubstitutionFailure,
    TextSubstitution,
)
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions
from launch_ros.actions import (
    LifecycleTransition,
    Node,
    PushROSNamespace,
    ROSTimer,
    SetParameter,
    SetUseSimTime,
)
from launch_ros.actions.load_composable_nodes import get_composable_node_load_request
from launch_ros.descriptions import ComposableNode, ParameterFile, ParameterValue
from launch_ros.substitutions import FindPackagePrefix
from launch_ros.utilities import evaluate_parameters, normalize_parameters, to_parameters_list
from rclpy.utilities import get_rmw_implementation_identifier


@pytest.fixture
def context() -> LaunchContext:
    return LaunchContext()


def text(sub: Any) -> str:
    return "".join(part.text for part in sub)


def test_shutdown_in_the_loop_may_be_awaited_and_the_task_is_known() -> None:
    service = LaunchService(noninteractive=True)
    seen: list[Any] = []

    async def main() -> int:
        running = asyncio.ensure_future(service.run_async(shutdown_when_idle=False))
        await asyncio.sleep(0)
        seen.append(service.task is running)
        asyncio.get_running_loop().create_task(service.shutdown())  # type: ignore[arg-type]
        return await running

    assert service.shutdown() is None  # before it runs
    service = LaunchService(noninteractive=True)
    assert asyncio.run(main()) == 0
    assert seen == [True]
    assert service.task is None


def test_an_entity_without_visit_is_visited() -> None:
    class Mine(LaunchDescriptionEntity):
        pass

    service = LaunchService(noninteractive=True)
    service.include_launch_description(LaunchDescription([Mine()]))
    assert service.run() == 0


def test_entities_of_on_exit_are_known() -> None:
    reaction = LogInfo(msg="over")
    process = ExecuteProcess(cmd=["true"], on_exit=[reaction], name="n", sigterm_timeout="3")
    assert process.describe_sub_entities() == [reaction]
    assert (text(process.name), process.shell) == ("n", False)
    assert text(process.sigterm_timeout) == "3"


def test_an_inclusion_adds_nothing_and_restores_the_file(context: LaunchContext, tmp_path: Path) -> None:
    inner = LaunchDescription(
        [OpaqueFunction(function=lambda c: seen.append(c.locals.current_launch_file_path))]
    )
    path = tmp_path / "inner.launch.py"
    path.write_text(
        "from launch import LaunchDescription\ndef generate_launch_description():\n"
        "    return LaunchDescription()\n"
    )
    seen: list[Any] = []
    assert (
        IncludeLaunchDescription(PythonLaunchDescriptionSource(str(path))).visit(context)[-1].entities == []
    )  # type: ignore[union-attr, index, attr-defined]

    def outer(c: LaunchContext) -> None:
        seen.append(c.get_locals_as_dict().get("current_launch_file_path"))

    service = LaunchService(noninteractive=True)
    service.include_launch_description(
        LaunchDescription(
            [IncludeLaunchDescription(AnyLaunchDescriptionSource(str(path))), OpaqueFunction(function=outer)]
        )
    )
    assert service.run() == 0
    assert seen == [None]
    assert inner.entities


def test_a_missing_launch_file_is_not_found() -> None:
    for load in (
        get_launch_description_from_any_launch_file,
        lambda path: PythonLaunchDescriptionSource(path).get_launch_description(LaunchContext()),
    ):
        with pytest.raises(FileNotFoundError):
            load("/no/such/file.launch.py")
    with pytest.raises(InvalidLaunchFileError):
        get_launch_description_from_any_launch_file(launch_file_path="/no/such/file.launch.py")
    error = InvalidLaunchFileError(extension="py", likely_errors=[ValueError("bad")])
    assert "[py]" in str(error)
    assert "ValueError: bad" in str(error)


def test_comparisons_and_choices(context: LaunchContext) -> None:
    assert EqualsSubstitution(True, 1).perform(context) == "true"
    assert EqualsSubstitution("true", "0").perform(context) == "false"
    assert IfElseSubstitution("on", "a", "b").perform(context) == "a"
    for wrong in (OrSubstitution("true", "what"), AnySubstitution("true", "what")):
        with pytest.raises(SubstitutionFailure):
            wrong.perform(context)
    both = AndSubstitution("true", "1")
    assert (text(both.left), text(both.right)) == ("true", "1")
    assert [text(part) for part in AnySubstitution("a", "b").args] == ["a", "b"]
    assert PathJoinSubstitution(["a", "b"]).perform(None) == "a/b"  # type: ignore[arg-type]


def test_environment_actions_tell_their_parts(context: LaunchContext) -> None:
    context.environment["X"] = "a"
    action = AppendEnvironmentVariable("X", "b", prepend="yes", separator="-")
    action.visit(context)
    assert context.environment["X"] == "b-a"
    parts = (action.name, action.value, action.prepend, action.separator)
    assert [text(part) for part in parts] == ["X", "b", "yes", "-"]
    assert text(SetEnvironmentVariable("A", "c").value) == "c"


def test_context_and_arguments(context: LaunchContext) -> None:
    context.extend_locals({"mine": 3})
    assert context.locals.mine == 3
    with pytest.raises(AttributeError, match="read-only"):
        context.locals.mine = 4
    assert context.get_locals_as_dict()["mine"] == 3
    for wrong in ({"a": 1}, [["a"]], b"a", None):
        with pytest.raises(TypeError):
            normalize_to_list_of_substitutions(wrong)  # type: ignore[arg-type]
    argument = DeclareLaunchArgument("x", description="one", choices=["a"])
    assert argument.description == "one. Valid choices are: ['a']"
    with pytest.raises(RuntimeError, match="Required launch argument 'x'"):
        argument.visit(context)
    with pytest.warns(UserWarning, match="deprecated"):
        LaunchConfigurationEquals("a", "b")
    assert GroupAction([], scoped=False, forwarding=False).get_sub_entities()
    assert TimerAction(period=1.0, actions=[]).handle is None


def test_arguments_with_the_inclusions_that_lead_to_them(tmp_path: Path) -> None:
    path = tmp_path / "inner.launch.xml"
    path.write_text("<launch><arg name='speed'/></launch>")
    inclusion = IncludeLaunchDescription(AnyLaunchDescriptionSource(str(path)))
    found = LaunchDescription([inclusion]).get_launch_arguments_with_include_launch_description_actions()
    assert [(argument.name, above) for argument, above in found] == [("speed", [inclusion])]


def parsed(markup: str) -> LaunchDescription:
    root, parser = Parser.load(io.StringIO(markup))
    return parser.parse_description(root)


def test_markup() -> None:
    assert isinstance(parsed("<launch><log message='hi'/></launch>").entities[0], LogInfo)
    yaml = (
        "launch:\n- group:\n    forwarding: false\n    keep:\n    - {name: a, value: b}\n"
        "    children:\n    - log: {message: hi}\n- reset:\n    keep:\n    - {name: a, value: b}\n"
    )
    group, reset = parsed(yaml).entities
    assert len(group.describe_sub_entities()) == 1
    assert "1 kept" in reset.describe()
    node = parsed(
        "<launch><node pkg='p' exec='e'><param name='n' value='1,2' value-sep=',' "
        "type='list_of_int'/></node></launch>"
    ).entities[0]
    assert isinstance(node, Node)


def test_wrong_arguments_of_nodes() -> None:
    for wrong in ({"remappings": ["a"]}, {"parameters": {"a": 1}}, {"parameters": [{"a": None}]}):
        with pytest.raises(TypeError):
            Node(package="p", executable="e", **wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least one"):
        LifecycleTransition(lifecycle_node_names=[], transition_ids=[1])


def test_actions_of_launch_ros_tell_their_parts(context: LaunchContext, tmp_path: Path) -> None:
    assert (
        len(LifecycleTransition(lifecycle_node_names=["a", "b"], transition_ids=[1]).execute(context) or ())
        == 2
    )
    assert LifecycleTransition.transition_targets[1] == 2
    assert text(SetParameter("a", "b").name) == "a"
    assert SetUseSimTime(True).value is True
    assert text(PushROSNamespace("ns").namespace) == "ns"
    assert text(ParameterValue(TextSubstitution(text="1")).value) == "1"
    path = tmp_path / "p.yaml"
    path.write_text("/**: {ros__parameters: {a: $(var x)}}")
    context.launch_configurations["x"] = "1"
    file = ParameterFile(str(path), allow_substs=True)
    written = file.evaluate(context)
    file.cleanup()
    assert not written.exists()
    values = evaluate_parameters(context, normalize_parameters([{"a": 1, "b": ["x"]}]))
    assert [p.name for p in to_parameters_list(context, "n", "/", values)] == ["a", "b"]


def test_composable_nodes_take_flat_files_and_keep_global_parameters(
    context: LaunchContext, tmp_path: Path
) -> None:
    path = tmp_path / "flat.yaml"
    path.write_text("speed: 2\n")
    SetParameter("speed", 1).visit(context)
    node = ComposableNode(package="p", plugin="P", name="n", parameters=[str(path), {"other": 3}])
    request = get_composable_node_load_request(node, context)
    assert request is not None
    assert [(p.name, p.value.integer_value) for p in request.parameters] == [
        ("speed", 1),
        ("speed", 2),
        ("other", 3),
    ]


def test_a_timer_of_simulated_time_counts_from_the_start_of_time() -> None:
    from rosgraph_msgs.msg import Clock as ClockMessage

    import rclpy
    from rclpy.time import Time

    assert get_rmw_implementation_identifier()
    seen: list[int] = []
    now = 0
    context = rclpy.Context()
    rclpy.init(args=[], context=context)
    node = rclpy.create_node("clock", context=context)
    publisher = node.create_publisher(ClockMessage, "/clock", 10)

    async def tick() -> None:
        nonlocal now
        while publisher.get_subscription_count() == 0:
            await asyncio.sleep(0.01)
        for now in (1, 2):
            for _ in range(3 if now == 1 else 200):
                publisher.publish(ClockMessage(clock=Time(seconds=now).to_msg()))
                await asyncio.sleep(0.1)
                if seen:
                    return

    async def main() -> int:
        service = LaunchService(noninteractive=True)
        fired = OpaqueFunction(function=lambda _: seen.append(now))
        service.include_launch_description(
            LaunchDescription([SetUseSimTime(True), ROSTimer(period=2.0, actions=[fired])])
        )
        ticking = asyncio.ensure_future(tick())
        code = await service.run_async()
        await ticking
        return code

    assert asyncio.run(main()) == 0
    node.destroy_node()
    context.try_shutdown()
    assert seen == [2]


def test_an_entity_without_a_description_is_visited_and_outlined(context: LaunchContext) -> None:
    class Silent(LaunchDescriptionEntity):
        def visit(self, context: LaunchContext) -> None:
            seen.append(context)

    seen: list[LaunchContext] = []
    with pytest.raises(NotImplementedError):
        Silent().describe()
    description = LaunchDescription([Silent()])
    assert "Silent" in LaunchIntrospector().format_launch_description(description)
    service = LaunchService(noninteractive=True)
    service.include_launch_description(description)
    assert service.run() == 0
    assert len(seen) == 1


def test_a_fresh_scope_keeps_lists_and_python_launch_files_have_paths(
    context: LaunchContext, tmp_path: Path
) -> None:
    ResetLaunchConfigurations({"global_params": [("speed", "1")]}).visit(context)
    assert context.launch_configurations == {"global_params": [("speed", "1")]}
    path = tmp_path / "empty.launch.py"
    path.write_text(
        "from launch import LaunchDescription\ngenerate_launch_description = lambda: LaunchDescription()\n"
    )
    assert get_launch_description_from_python_launch_file(path).entities == []
    path.unlink()
    with pytest.raises(FileNotFoundError):
        get_launch_description_from_python_launch_file(path)


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("launch: [{set_parameter: {name: gain, value: 'true'}}]", True),
        ("launch: [{set_parameter: {name: gain, value: 2}}]", 2),
        ("launch: [{set_parameter: {name: gain, value: plain}}]", "plain"),
        ("<launch><set_parameter name='gain' value='1.5'/></launch>", 1.5),
        ("""<launch><set_parameter name='gain' value="'1.5'"/></launch>""", "1.5"),
    ],
)
def test_a_value_that_markup_sets_is_read_as_yaml(
    context: LaunchContext, markup: str, expected: object
) -> None:
    root, parser = Parser.load(io.StringIO(markup))
    [action] = parser.parse_description(root).entities
    assert isinstance(action, SetParameter)
    if isinstance(expected, str) and expected == "plain":
        assert text(action.value) == "plain"
    action.visit(context)
    assert context.launch_configurations["global_params"] == [("gain", expected)]


def test_the_runtimes_own_packages_have_a_prefix(context: LaunchContext) -> None:
    prefix = perform_substitutions(context, [FindPackagePrefix("launch_ros")])
    assert prefix == sys.prefix
