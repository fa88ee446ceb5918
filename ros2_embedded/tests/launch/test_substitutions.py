"""Substitutions and conditions by themselves."""

from __future__ import annotations

import pytest

from launch import LaunchContext, substitutions
from launch.conditions import (
    IfCondition,
    InvalidConditionExpressionError,
    LaunchConfigurationEquals,
    LaunchConfigurationNotEquals,
    UnlessCondition,
)
from launch.substitutions import SubstitutionFailure
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions


@pytest.fixture
def context():
    context = LaunchContext()
    context.launch_configurations.update(a="1", b="two", yes="True", no="false")
    return context


def value(context, sub):
    return perform_substitutions(context, normalize_to_list_of_substitutions(sub))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PathJoinSubstitution(['/x', ['a', LaunchConfiguration('a')], 'c'])", "/x/a1/c"),
        ("PythonExpression(['1 + ', LaunchConfiguration('a')])", "2"),
        ("PythonExpression([\"'\", LaunchConfiguration('b'), \"' == 'two' and not False\"])", "True"),
        ("PythonExpression('sqrt(16) + math.floor(2.5)')", "6.0"),
        ("PythonExpression('[x for x in range(3)]')", "[0, 1, 2]"),
        ("NotSubstitution(LaunchConfiguration('no'))", "true"),
        ("AndSubstitution(LaunchConfiguration('yes'), 'false')", "false"),
        ("OrSubstitution(LaunchConfiguration('yes'), 'false')", "true"),
        ("AnySubstitution('false', '0', '1')", "true"),
        ("AllSubstitution('true', '1')", "true"),
        ("BooleanSubstitution('1')", "true"),
        ("EqualsSubstitution(LaunchConfiguration('a'), 1.0)", "true"),
        ("NotEqualsSubstitution(LaunchConfiguration('b'), 'two')", "false"),
        ("IfElseSubstitution(LaunchConfiguration('yes'), 'p', 'q')", "p"),
        ("EnvironmentVariable('NO_SUCH_VARIABLE', default_value='d')", "d"),
        ("Command(['echo hello ', LaunchConfiguration('b')])", "hello two\n"),
        ("LaunchConfiguration('missing', default='fallback')", "fallback"),
        ("StringJoinSubstitution(['a', ['b', 'c'], LaunchConfiguration('a')])", "abc1"),
        ("StringJoinSubstitution(['a', 'b', 'c'], delimiter=['-', LaunchConfiguration('a')])", "a-1b-1c"),
        ("EqualsSubstitution(None, '')", "true"),
        ("PythonExpression('sys.maxsize > 1', ['sys'])", "True"),
        ("PythonExpression('len(\"abc\")', [''])", "3"),
    ],
)
def test_value(context, text, expected):
    assert value(context, eval(text, vars(substitutions))) == expected


@pytest.mark.parametrize(
    "text",
    [
        "LaunchConfiguration('missing')",
        "EnvironmentVariable('NO_SUCH_VARIABLE')",
        "FindExecutable(name='no-such-program')",
        "FileContent('/no/such/file')",
        "Command('false')",
        "Command('ls /no/such/file')",
        "AndSubstitution('maybe', 'true')",
        "PythonExpression('1 +')",
        "PythonExpression('undefined')",
        "ThisLaunchFileDir()",
    ],
)
def test_failure_says_what_is_missing(context, text):
    with pytest.raises(SubstitutionFailure):
        value(context, eval(text, vars(substitutions)))


def test_an_unknown_name_is_a_name_error(context):
    with pytest.raises(NameError, match="ceil"):
        value(context, substitutions.PythonExpression("ceil(1.5)", [""]))


def test_stderr_of_a_command_as_a_warning(context):
    with pytest.warns(UserWarning, match="trouble"):
        value(context, substitutions.Command("sh -c 'echo trouble >&2'", on_stderr="warn"))


@pytest.mark.parametrize(
    "expression",
    [
        "__import__('os').system('true')",
        "().__class__.__bases__[0].__subclasses__()",
        "open('/etc/passwd').read()",
        "eval('1')",
        "'{0.__class__}'.format(1)",
        "(lambda: 1)()",
        "math.__loader__",
    ],
)
def test_expression_reaches_nothing_but_values(context, expression):
    with pytest.raises(SubstitutionFailure):
        substitutions.PythonExpression(expression).perform(context)


def test_expression_module_must_be_allowed(context):
    path = substitutions.PythonExpression("os.path.join('a', 'b')", ["os.path"])
    assert path.perform(context) == "a/b"
    with pytest.raises(SubstitutionFailure):
        substitutions.PythonExpression("subprocess.run(['true'])", ["subprocess"]).perform(context)


def test_anonymous_names_differ_by_base_only(context):
    first = substitutions.AnonName("node").perform(context)
    assert first.startswith("node_")
    assert substitutions.AnonName("node").perform(context) == first
    assert substitutions.AnonName("other").perform(context) != first


def test_conditions(context):
    assert IfCondition(substitutions.LaunchConfiguration("yes")).evaluate(context)
    assert not UnlessCondition("1").evaluate(context)
    assert LaunchConfigurationEquals("b", "two").evaluate(context)
    assert LaunchConfigurationEquals("missing", None).evaluate(context)
    assert LaunchConfigurationNotEquals("b", "three").evaluate(context)
    with pytest.raises(InvalidConditionExpressionError, match="two"):
        IfCondition(substitutions.LaunchConfiguration("b")).evaluate(context)
