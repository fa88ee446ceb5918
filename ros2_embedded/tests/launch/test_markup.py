"""XML and YAML launch files: the same tree of actions from both, and errors that name the place."""

# ruff: noqa: E501 (launch files are quoted in the form users write them)
from __future__ import annotations

import io
import textwrap
from pathlib import Path

import pytest
import yaml

from launch import LaunchContext, LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.frontend import Parser, parse_substitution
from launch.frontend.errors import InvalidFrontendLaunchFileError
from launch.frontend.parser import description_from_markup
from launch.logging import launch_config
from launch.utilities import perform_substitutions

XML = """
<launch version="0.1.1">
  <arg name="who" default="world" description="whom to greet"><choice value="world"/><choice value="you"/></arg>
  <arg name="num" default="2"/>
  <let name="x" value="$(eval '1 + $(var num)')"/>
  <set_env name="GREET" value="hi"/>
  <append_env name="GREET" value="ho" separator="-"/>
  <executable cmd="echo $(env GREET) '$(var who) there' $(var x)" output="screen" name="hello"/>
  <executable cmd="echo a; echo $LOCAL" shell="true" output="screen"><env name="LOCAL" value="$(var who)!"/></executable>
  <group unless="$(equals $(var who) world)"><log message="not for the world"/></group>
  <group><let name="inner" value="1"/></group>
  <log message="inner is $(var inner gone)"/>
  <group scoped="true" forwarding="false"><keep name="who" value="kept"/><log message="who is $(var who), num is $(var num none)"/></group>
  <for len="$(var num)" name="i"><log message="i=$(index i)" level="warning"/></for>
  <for_each values="{name: a, id: 1};{name: b}"><log_error message="$(for-var name) $(for-var id none)"/></for_each>
  <timer period="0.05"><log message="tick"/></timer>
</launch>
"""

YAML = """
launch:
- arg:
    name: who
    default: world
    description: whom to greet
    choice: [{value: world}, {value: you}]
- arg: {name: num, default: '2'}
- let: {name: x, value: $(eval '1 + $(var num)')}
- set_env: {name: GREET, value: hi}
- append_env: {name: GREET, value: ho, separator: '-'}
- executable: {cmd: "echo $(env GREET) '$(var who) there' $(var x)", output: screen, name: hello}
- executable:
    cmd: echo a; echo $LOCAL
    shell: true
    output: screen
    env: [{name: LOCAL, value: $(var who)!}]
- group:
    unless: $(equals $(var who) world)
    children:
    - log: {message: not for the world}
- group:
  - let: {name: inner, value: '1'}
- log: {message: inner is $(var inner gone)}
- group:
    scoped: true
    forwarding: false
    children:
    - keep: {name: who, value: kept}
    - log: {message: 'who is $(var who), num is $(var num none)'}
- for:
    len: $(var num)
    name: i
    children:
    - log: {message: i=$(index i), level: warning}
- for_each:
    values: '{name: a, id: 1};{name: b}'
    children:
    - log_error: {message: $(for-var name) $(for-var id none)}
- timer:
    period: 0.05
    children:
    - log: {message: tick}
"""


@pytest.fixture(autouse=True)
def _own_logs(tmp_path, monkeypatch):
    monkeypatch.setattr(launch_config, "_log_dir", tmp_path / "log")


def launch(text):
    """Run a launch file given as text and return its exit code."""
    root, parser = Parser.load(io.StringIO(textwrap.dedent(text)))
    service = LaunchService()
    service.include_launch_description(parser.parse_description(root))
    return service.run()


@pytest.mark.parametrize("text", [XML, YAML], ids=["xml", "yaml"])
def test_both_formats_do_the_same(text, capsys):
    assert launch(text) == 0
    output = capsys.readouterr().out
    for line in (
        "[hello-1] hi-ho world there 3\n",
        "] a\n",
        "] world!\n",
        "inner is gone\n",
        "who is kept, num is none\n",
        "[WARNING] [launch.user]: i=0\n",
        "[WARNING] [launch.user]: i=1\n",
        "[ERROR] [launch.user]: a 1\n",
        "[ERROR] [launch.user]: b none\n",
        "tick\n",
    ):
        assert line in output
    assert "not for the world" not in output


def test_formats_include_each_other(tmp_path, capsys):
    (tmp_path / "top.launch.xml").write_text(
        '<launch><include file="$(dirname)/middle.launch.yaml"><arg name="n" value="5"/></include></launch>'
    )
    (tmp_path / "middle.launch.yaml").write_text(
        "launch:\n- arg: {name: n}\n- include:\n    file: $(dirname)/leaf.launch.py\n    let: [{name: m, value: $(var n)6}]\n"
    )
    (tmp_path / "leaf.launch.py").write_text(
        "from launch import *\nfrom launch.actions import *\nfrom launch.substitutions import *\n"
        "def generate_launch_description():\n    return LaunchDescription([LogInfo(msg=['m is ', LaunchConfiguration('m')])])\n"
    )
    service = LaunchService()
    include = IncludeLaunchDescription(str(tmp_path / "top.launch.xml"))
    service.include_launch_description(LaunchDescription([include]))
    assert service.run() == 0
    assert "m is 56" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("<launch><nod/></launch>", "unknown tag 'nod'"),
        ("<launch><log/></launch>", "<log> needs the attribute 'message'"),
        ("<launch><log message='x' mesage='y'/></launch>", "unexpected attribute(s) of `log`: `mesage`"),
        (
            "<launch><let name='a' value='b'><log message='x'/></let></launch>",
            "unexpected element(s) in `let`: `log`",
        ),
        ("<launch><log message='x' if='1' unless='1'/></launch>", "both 'if' and 'unless'"),
        ("<launch><log message='$(nope x)'/></launch>", "unknown substitution 'nope'"),
        ("<launch><log message='$(var x'/></launch>", "missing )"),
        ("<launch><log message='$(not)'/></launch>", "wrong arguments"),
        (
            "<launch><group scoped='maybe'/></launch>",
            "Attribute 'scoped' of <group>: cannot convert 'maybe' to bool",
        ),
        ("<launch><node pkg='p'/></launch>", "<node> needs the attribute 'exec'"),
        ("<launch><node exec='e'><param name='a'/></node></launch>", "needs either 'value'"),
        ("<lunch/>", "must be 'launch'"),
        ("<launch>", "is no XML"),
        ("launch:\n- log: {mesage: x}", "'log' needs the key 'message'"),
        ("launch:\n- log: {message: x, mesage: y}", "unexpected key(s) of `log`: `mesage`"),
        ("launch:\n- log: {message: 5}", "'message' of 'log' is 5; expected str"),
        ("launch:\n- log", "an element is a mapping with one key"),
        ("<?xml version='1.0' encoding='shift_jis'?><launch/>", "is no XML: multi-byte encodings"),
        ("<?xml version='1.0' encoding='nobodys'?><launch/>", "is no XML: unknown encoding"),
    ],
)
def test_errors_name_the_place(text, problem, tmp_path):
    path = tmp_path / ("f.launch.xml" if text.startswith("<") else "f.launch.yaml")
    path.write_text(text)
    with pytest.raises(InvalidFrontendLaunchFileError) as caught:
        description_from_markup(str(path))
    assert problem in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain 'quotes' stay", "plain 'quotes' stay"),
        ("a$b and $ (c)", "a$b and $ (c)"),
        (r"C:\\path and \$(var a)\.", r"C:\path and $(var a)."),
        ("$(var a)$(var a)-$(var b)", "11-two"),
        ("$(var missing 'two words')", "two words"),
        ("$(var missing '')", ""),
        ("$(var missing \"$(var a) 'x'\")", "1 'x'"),
        (r"$(var missing '')$(var missing a\(b\))", "a(b)"),
        ("$(var missing pre$(var a)post)", "pre1post"),
        ("$(eval \"'$(var b)' + 'x'\")", "twox"),
        ("$(eval 'floor(2.5)')", "2"),
        ("$(eval \"os.path.join('a', 'b')\" os.path)", "a/b"),
        (
            "$(not false)$(and true 1)$(or false 0)$(any 0 1 0)$(all 1 1)$(bool 1)",
            "truetruefalsetruetruetrue",
        ),
        ("$(if $(equals $(var a) 1.0) yes no)", "yes"),
        ("$(not-equals a b)", "true"),
        ("$(path-join /x $(var b) z)", "/x/two/z"),
        ("$(command 'echo out')", "out\n"),
        ("$(find-pkg-share std_msgs)", None),
    ],
)
def test_substitutions_in_text(text, expected):
    Parser.load_launch_extensions()
    context = LaunchContext()
    context.launch_configurations.update(a="1", b="two")
    if expected is None:
        assert perform_substitutions(context, parse_substitution(text))
    else:
        assert perform_substitutions(context, parse_substitution(text)) == expected


NODE_XML = """
<launch>
  <node exec="driver" name="arm" namespace="left" args="--port '$(var port)'" ros_args="--log-level debug" respawn="true">
    <param name="speed" value="2"/>
    <param name="label" value="3" type="str"/>
    <param name="gains" value="1.0; 2.0" value-sep=";"/>
    <param name="pid"><param name="p" value="$(var port)"/><param name="on" value="true"/></param>
    <remap from="a" to="$(var port)_b"/>
  </node>
</launch>
"""

NODE_YAML = """
launch:
- node:
    exec: driver
    name: arm
    namespace: left
    args: --port '$(var port)'
    ros_args: --log-level debug
    respawn: true
    param:
    - {name: speed, value: 2}
    - {name: label, value: '3', type: str}
    - {name: gains, value: [1.0, 2.0]}
    - name: pid
      param: [{name: p, value: $(var port)}, {name: 'on', value: true}]
    remap: [{from: a, to: $(var port)_b}]
"""


@pytest.mark.parametrize("text", [NODE_XML, NODE_YAML], ids=["xml", "yaml"])
def test_node_gets_its_command_line(text):
    root, parser = Parser.load(io.StringIO(text))
    [node] = parser.parse_description(root).entities
    context = LaunchContext()
    context.launch_configurations["port"] = "7"
    node.prepare(context)
    command = node.cmd
    assert command[:6] == ["driver", "--port", "7", "--ros-args", "--log-level", "debug"]
    assert command[6:12] == ["-r", "a:=7_b", "-r", "__node:=arm", "-r", "__ns:=/left"]
    values = {}
    for word in command[12:]:
        if word != "--params-file":
            values.update(yaml.safe_load(Path(word).read_text())["/left/arm"]["ros__parameters"])
    assert values == {"speed": 2, "label": "3", "gains": [1.0, 2.0], "pid.p": 7, "pid.on": True}


def test_loops_from_python(capsys):
    from launch.actions import ForEach, ForLoop, LogInfo, ReplaceEnvironmentVariables
    from launch.substitutions import EnvironmentVariable

    service = LaunchService()
    service.include_launch_description(
        LaunchDescription(
            [
                ForLoop("3", function=lambda i: [LogInfo(msg=f"i={i}")]),
                ForEach("{n: a};{}", function=lambda n="b": [LogInfo(msg=f"n={n}")]),
                ReplaceEnvironmentVariables({"ONLY": "one"}),
                LogInfo(
                    msg=[EnvironmentVariable("ONLY"), EnvironmentVariable("HOME", default_value=" left")]
                ),
            ]
        )
    )
    assert service.run() == 0
    lines = [line.partition("user]: ")[2] for line in capsys.readouterr().out.splitlines()]
    assert [line for line in lines if line] == ["i=0", "i=1", "i=2", "n=a", "n=b", "one left"]


SCOPES = """
<launch>
  <push_ros_namespace namespace="a"/>
  <push-ros-namespace namespace="b"/>
  <set_use_sim_time value="true"/>
  <set_parameter name="gain" value="1.5"/>
  <set_parameters_from_file filename="$(var file)"/>
  <set_remap from="x" to="y"/>
  <push_env/><set_env name="SCOPED" value="1"/><pop_env/>
  <push_launch_configurations/><let name="scoped" value="1"/><pop_launch_configurations/>
  <let name="gone" value="1"/><unset name="gone"/>
  <set_env name="GONE" value="1"/><unset_env name="GONE"/>
  <rep_env><env name="ONLY" value="$(env HOME none)"/></rep_env>
  <log message="$(env ONLY) $(env SCOPED unscoped) $(var scoped unscoped) $(var gone none) $(env GONE none)"/>
  <log message="gain is $(param gain)"/>
  <executable cmd="nothing" if="false"/>
  <reset><keep name="file" value="kept"/></reset>
  <log message="$(var file) $(var other reset)"/>
  <reset_env/>
  <log message="home is $(env HOME)" level="$(if true debug info)"/>
  <shutdown reason="enough"/>
</launch>
"""


def test_scopes_and_settings(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", "/home/nobody")
    root, parser = Parser.load(io.StringIO(SCOPES))
    service = LaunchService()
    configurations = service.context.launch_configurations
    configurations["file"] = str(tmp_path / "p.yaml")
    service.include_launch_description(parser.parse_description(root))
    seen = {}

    def look(context):
        seen.update(context.launch_configurations)

    from launch.actions import OpaqueFunction

    entities = parser.parse_description(Parser.load(io.StringIO(SCOPES))[0]).entities
    second = LaunchService()
    second.context.launch_configurations["file"] = str(tmp_path / "p.yaml")
    second.include_launch_description(LaunchDescription([*entities[:6], OpaqueFunction(function=look)]))
    assert service.run() == 0
    assert second.run() == 0
    output = capsys.readouterr().out
    assert "/home/nobody unscoped unscoped none none\n" in output
    assert "gain is 1.5\n" in output
    assert "kept reset\n" in output
    assert "home is" not in output  # logged at level DEBUG
    assert seen["ros_namespace"] == "/a/b"
    assert seen["ros_remaps"] == [("x", "y")]
    assert seen["global_params"] == [("use_sim_time", True), ("gain", 1.5), str(tmp_path / "p.yaml")]
