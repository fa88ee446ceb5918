"""Arguments, conditions, substitutions, events: what launch files say is what happens."""

# ruff: noqa: E501 (launch files are quoted in the form users write them)
from __future__ import annotations

import subprocess
import sys

import pytest


def test_arguments_reach_processes_and_conditions(launcher):
    body = """
    return LaunchDescription([
        DeclareLaunchArgument('who', default_value='world'),
        DeclareLaunchArgument('extra', default_value='false'),
        ExecuteProcess(cmd=['echo', ['hello ', LaunchConfiguration('who')]], name='hello', output='screen'),
        ExecuteProcess(cmd=['echo', 'extra on'], condition=IfCondition(LaunchConfiguration('extra')), output='screen'),
        ExecuteProcess(cmd=['echo', 'extra off'], condition=UnlessCondition(LaunchConfiguration('extra')), output='screen'),
    ])
    """
    code, output = launcher.run(body)
    assert code == 0
    assert "[hello-1] hello world\n" in output
    assert "extra off" in output
    assert "extra on" not in output
    _, output = launcher.run(body, "who:=you", "extra:=True")
    assert "[hello-1] hello you\n" in output
    assert "] extra on\n" in output
    assert "extra off" not in output


def test_unknown_argument_names_the_known_ones(launcher):
    code, output = launcher.run(
        "return LaunchDescription([DeclareLaunchArgument('speed', default_value='1')])", "sped:=2"
    )
    assert code == 1
    assert "unknown launch argument 'sped'; declared: speed" in output
    assert "Traceback" not in output


def test_an_argument_may_be_used_without_being_declared(launcher):
    body = "return LaunchDescription([LogInfo(msg=['at ', LaunchConfiguration('x_pose', default='0')])])"
    code, output = launcher.run(body, "x_pose:=1")
    assert code == 0
    assert "at 1\n" in output
    assert "unknown" not in output


def test_an_argument_may_be_that_of_a_file_whose_place_is_found_by_the_launch(launcher):
    launcher.write(
        """return LaunchDescription([
            DeclareLaunchArgument('world', default_value='w'), LogInfo(msg=['in ', LaunchConfiguration('world')])
        ])""",
        "inner.launch.py",
    )
    body = """return LaunchDescription([
        IncludeLaunchDescription(PathJoinSubstitution([ThisLaunchFileDir(), 'inner.launch.py'])),
    ])"""
    code, output = launcher.run(body, "world:=z")
    assert code == 0
    assert "in z\n" in output


def test_missing_argument_and_wrong_choice_fail(launcher):
    code, output = launcher.run("return LaunchDescription([DeclareLaunchArgument('speed')])")
    assert code == 1
    assert "missing required argument 'speed'" in output
    assert "pass speed:=value" in output
    body = "return LaunchDescription([DeclareLaunchArgument('mode', choices=['a', 'b'])])"
    code, output = launcher.run(body, "mode:=c")
    assert code == 1
    assert "'c' is not valid. Valid options are: ['a', 'b']" in output


def test_show_args_lists_arguments_of_included_files(launcher):
    launcher.write(
        "return LaunchDescription([DeclareLaunchArgument('inner', description='the inner one')])",
        "inner.launch.py",
    )
    body = f"""
    from launch.launch_description_sources import PythonLaunchDescriptionSource
    return LaunchDescription([
        DeclareLaunchArgument('outer', default_value='x', choices=['x', 'y']),
        IncludeLaunchDescription(PythonLaunchDescriptionSource({str(launcher.folder / "inner.launch.py")!r})),
    ])
    """
    code, output = launcher.run(body, "--show-args")
    assert code == 0
    assert "'outer':" in output
    assert "(default: 'x')" in output
    assert "the inner one" in output


def test_include_passes_arguments_and_knows_its_file(launcher):
    launcher.write(
        "return LaunchDescription([DeclareLaunchArgument('n'), LogInfo(msg=['n=', LaunchConfiguration('n'), ' in ', ThisLaunchFileDir()])])",
        "inner.launch.py",
    )
    body = """
    from launch.launch_description_sources import PythonLaunchDescriptionSource
    return LaunchDescription([
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource([ThisLaunchFileDir(), '/inner.launch.py']), launch_arguments={'n': '7'}.items()),
    ])
    """
    code, output = launcher.run(body)
    assert code == 0
    assert f"n=7 in {launcher.folder}" in output


def test_groups_keep_configurations_and_environment_apart(launcher):
    body = """
    show = [LogInfo(msg=['at ', LaunchConfiguration('a', default='none'), ' ', EnvironmentVariable('GROUP_E', default_value='none')])]
    return LaunchDescription([
        GroupAction([SetLaunchConfiguration('a', '1'), SetEnvironmentVariable('GROUP_E', 'e'), *show]),
        *show,
        GroupAction([SetLaunchConfiguration('a', '2')], scoped=False),
        *show,
        GroupAction(show, forwarding=False, launch_configurations={'a': '3'}),
        GroupAction(show, forwarding=False),
    ])
    """
    code, output = launcher.run(body)
    assert code == 0
    seen = [line.partition("at ")[2] for line in output.splitlines() if "]: at " in line]
    assert seen == ["1 e", "none none", "2 none", "3 none", "none none"]


def test_event_handlers_chain_processes(launcher):
    body = """
    first = ExecuteProcess(cmd=['echo', 'one'], name='first')
    second = ExecuteProcess(cmd=['echo', 'two'], name='second', output='screen')
    return LaunchDescription([
        RegisterEventHandler(OnProcessStart(target_action=first, on_start=LogInfo(msg='first started'))),
        RegisterEventHandler(OnProcessIO(target_action=first, on_stdout=lambda event: LogInfo(msg='io ' + event.text.decode().strip()))),
        RegisterEventHandler(OnProcessExit(
            target_action=first, on_exit=lambda event, context: [LogInfo(msg=f'code {event.returncode}'), second])),
        RegisterEventHandler(OnExecutionComplete(target_action=second, on_completion=LogInfo(msg='second complete'))),
        first,
    ])
    """
    code, output = launcher.run(body)
    assert code == 0
    for text in ("first started", "io one", "code 0", "[second-2] two", "second complete"):
        assert text in output


def test_opaque_function_timer_loop_and_shutdown_handler(launcher):
    body = """
    def setup(context, word):
        return [LogInfo(msg=word + LaunchConfiguration('n').perform(context))]
    return LaunchDescription([
        DeclareLaunchArgument('n', default_value='5'),
        DeclareLaunchArgument('robots', default_value='{name: a, id: 1};{name: b, id: 2}'),
        OpaqueFunction(function=setup, args=['n is ']),
        ForEach(LaunchConfiguration('robots'), function=lambda name, id: [LogInfo(msg=f'robot {name}{id}')]),
        RegisterEventHandler(OnShutdown(on_shutdown=[LogInfo(msg=['down: ', LocalSubstitution('event.reason')])])),
        TimerAction(period=0.2, actions=[LogInfo(msg='tick'), Shutdown(reason='enough')]),
        TimerAction(period=1000.0, actions=[LogInfo(msg='never')]),
    ])
    """
    code, output = launcher.run(body)
    assert code == 0
    for text in ("n is 5", "robot a1", "robot b2", "tick", "down: enough"):
        assert text in output
    assert "never" not in output


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        ("ExecuteProcess(cmd=['bash', '-c', 'exit 3'], on_exit=Shutdown(reason='it failed'))", 3),
        ("ExecuteProcess(cmd=['bash', '-c', 'exit 0'], on_exit=Shutdown())", 0),
        ("ExecuteProcess(cmd=['bash', '-c', 'kill -9 $$'], on_exit=[Shutdown()])", 137),
        ("ExecuteProcess(cmd=['bash', '-c', 'exit 3'])", 0),
        ("ExecuteProcess(cmd=['/no/such/program'], on_exit=Shutdown())", 127),
        ("OpaqueFunction(function=lambda context: 1 / 0)", 1),
        ("LogInfo(msg=LaunchConfiguration('nobody_set_this'))", 1),
    ],
)
def test_exit_code_is_that_of_the_required_process(launcher, action, expected):
    code, output = launcher.run(f"return LaunchDescription([{action}])")
    assert code == expected, output
    assert "Traceback" not in output


def test_respawn_ends_after_its_retries(launcher):
    body = """
    return LaunchDescription([
        ExecuteProcess(cmd=['bash', '-c', 'echo run; exit 1'], respawn=True, respawn_delay=0.05, respawn_max_retries=2, output='screen'),
    ])
    """
    code, output = launcher.run(body)
    assert code == 0
    assert output.count("] run\n") == 3


def test_output_goes_where_it_is_told(launcher):
    body = """
    return LaunchDescription([
        ExecuteProcess(cmd=['bash', '-c', 'echo quiet; echo loud >&2'], name='a'),
        ExecuteProcess(cmd=['bash', '-c', 'test -t 1 && echo terminal'], emulate_tty=True, output='screen'),
        ExecuteProcess(cmd=['bash', '-c', 'echo -n no line end'], name='c', output='both'),
    ])
    """
    _, output = launcher.run(body)
    assert "[a-1] quiet" not in output
    assert "[a-1] loud\n" in output
    assert "] terminal\n" in output
    assert "[c-3] no line end\n" in output
    logs = "".join(path.read_text() for path in (launcher.folder / "log").rglob("launch.log"))
    assert "[a-1] quiet" in logs
    assert "no line end" in logs


def test_the_environment_decides_where_the_lines_of_all_processes_go(launcher):
    launcher.environment["OVERRIDE_LAUNCH_PROCESS_OUTPUT"] = "screen"
    _, output = launcher.run("""
    return LaunchDescription([
        ExecuteProcess(cmd=['echo', 'words'], name='a', output='both'),
        ExecuteProcess(cmd=['echo', 'more'], name='b'),
    ])
    """)
    assert "[a-1] words\n" in output
    assert "[b-2] more\n" in output
    logs = "".join(path.read_text() for path in (launcher.folder / "log").rglob("launch.log"))
    assert "[a-1] words" not in logs
    assert "[b-2] more" not in logs


def test_missing_file_and_broken_file_are_one_line(launcher):
    code, output = launcher.run("return 5")
    assert code == 1
    assert "not a LaunchDescription" in output
    code, output = launcher.run("return LaunchDescription([)")
    assert code == 1
    assert "test.launch.py', line" in output
    assert "Traceback" not in output


@pytest.mark.parametrize("reader", ["true", "head -1", "full", "closed"])
def test_a_screen_that_is_gone_costs_its_lines_alone(launcher, reader):
    body = """
    return LaunchDescription([
        ExecuteProcess(cmd=['sh', '-c', 'for i in 1 2 3; do echo $i; sleep 0.1; done; touch ended'], output='both'),
    ])
    """
    command = f"{sys.executable} -m ros2cli.cli launch {launcher.write(body)}"
    end = {"full": "> /dev/full", "closed": ">&-"}.get(reader, f"| {reader}")
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} {end}"],
        cwd=launcher.folder,
        env=launcher.environment,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0
    assert (launcher.folder / "ended").exists()
    assert "Traceback" not in done.stderr
    assert done.stderr.count("no output on the screen") == (reader != "closed")


def test_the_name_of_a_process_may_have_slashes(launcher):
    body = """
    return LaunchDescription([
        Node(executable='true', exec_name='camera/left', parameters=[{'rate': 1}]),
        ExecuteProcess(cmd=['echo', 'seen'], name='camera/../right', output='own_log'),
    ])
    """
    code, output = launcher.run(body)
    assert code == 0
    assert "cannot" not in output
    assert "no log file" not in output
    logs = launcher.folder / "log" / "latest"
    assert (logs / "camera-..-right-2.log").read_text().endswith(" seen\n")
    assert (logs / "camera-left-1-0.yaml").exists()
