"""`rosidl_runtime_py`, `rosidl_adapter` and `ament_index_python`, as programs use them."""

from __future__ import annotations

import copy
import os
import sys
from pathlib import Path

import pytest
import test_msgs.msg
import test_msgs.srv
from std_msgs.msg import Byte, String
from std_srvs.srv import Trigger
from test_msgs.action import Fibonacci
from test_msgs.message_fixtures import get_test_msg
from test_msgs.msg import Arrays, BasicTypes, BoundedSequences, Nested, UnboundedSequences
from test_msgs.service_fixtures import get_test_srv

import ament_index_python
import rosidl_runtime_py
from ament_index_python import cli
from rclpy.serialization import deserialize_message, serialize_message
from rosidl_adapter.parser import (
    InvalidFieldDefinition,
    InvalidResourceName,
    InvalidServiceSpecification,
    InvalidValue,
    parse_action_string,
    parse_message_string,
    parse_service_string,
)
from rosidl_parser.definition import NamespacedType, UnboundedSequence
from rosidl_runtime_py import (
    get_interface_path,
    import_message_from_namespaced_type,
    message_to_csv,
    set_message_fields,
    utilities,
)
from rosidl_runtime_py.convert import _convert_value


def test_interfaces_of_packages() -> None:
    assert rosidl_runtime_py.get_interfaces(["std_srvs"]) == {
        "std_srvs": ["srv/Empty", "srv/SetBool", "srv/Trigger"]
    }
    assert "msg/String" in rosidl_runtime_py.get_message_interfaces()["std_msgs"]
    assert rosidl_runtime_py.get_service_interfaces(["std_msgs", "std_srvs"]).keys() == {"std_srvs"}
    assert "test_msgs" in rosidl_runtime_py.get_action_interfaces()
    assert {"std_msgs", "std_srvs"} <= set(rosidl_runtime_py.get_interface_packages())
    assert "std_srvs" not in rosidl_runtime_py.get_message_interface_packages()
    with pytest.raises(LookupError, match="Unknown package 'no_such_package'"):
        rosidl_runtime_py.get_interfaces(["no_such_package"])


@pytest.mark.parametrize(
    "name",
    ["program_of_mine/msg/X", "folder_of_mine/msg/X", "folder_of_mine.run/msg/X", "folder_of_mine/run/X"],
)
def test_no_program_runs_because_a_type_has_its_name(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names of types come from bags and other machines."""
    (tmp_path / "folder_of_mine").mkdir()
    for file in ("program_of_mine.py", "folder_of_mine/__init__.py", "folder_of_mine/run.py"):
        (tmp_path / file).write_text("raise SystemExit('it ran')")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModuleNotFoundError, match="No module named"):
        utilities.get_message(name)
    with pytest.raises(ModuleNotFoundError, match="No module named"):
        utilities.get_interface(name)


def test_interfaces_written_in_python_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "python_msgs").mkdir()
    (tmp_path / "python_msgs/__init__.py").touch()
    (tmp_path / "python_msgs/msg.py").write_text("from std_msgs.msg import String as Word")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert utilities.get_message("python_msgs/msg/Word") is String


@pytest.mark.parametrize("name", ["std_msgs/msg/String", "std_msgs/msg/String.msg"])
def test_path_of_an_interface(name: str) -> None:
    assert Path(get_interface_path(name)).name == "String.msg"


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("", ValueError),
        ("std_msgs", ValueError),
        ("nobody/msg/String", LookupError),
        ("std_msgs/msg/No", LookupError),
    ],
)
def test_path_of_no_interface(name: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        get_interface_path(name)


def test_classes_by_name() -> None:
    assert utilities.get_message("std_msgs/String") is String
    assert utilities.get_service("std_srvs/srv/Trigger") is Trigger
    assert utilities.get_action("test_msgs/action/Fibonacci") is Fibonacci
    assert utilities.get_namespaced_type("a/msg/B") == NamespacedType(["a", "msg"], "B")
    assert import_message_from_namespaced_type(NamespacedType(["std_msgs", "msg"], "String")) is String
    assert [f(Trigger) for f in (utilities.is_message, utilities.is_service, utilities.is_action)] == [
        False,
        True,
        False,
    ]
    with pytest.raises(ValueError, match="Expected the full name of a message"):
        utilities.get_message("std_srvs/srv/Trigger")


def test_class_of_the_elements_of_a_sequence() -> None:
    with pytest.warns(DeprecationWarning, match="value_type"):
        kind = import_message_from_namespaced_type(
            UnboundedSequence(NamespacedType(["std_msgs", "msg"], "String"))
        )
    assert kind is String


def test_values_without_messages_and_bytes() -> None:
    plain = rosidl_runtime_py.message_to_ordereddict
    assert plain(Byte(data=b"\xe9")) == {"data": "é"}
    assert plain(UnboundedSequences(uint8_values=b"12345"), truncate_length=3)["uint8_values"] == [
        49,
        50,
        51,
        "...",
    ]
    assert _convert_value({"a": ("long", 1)}, truncate_length=1) == {"a": ("l...", "...")}
    assert plain(b"\xce\xbb") == {"bytes": b"\xce\xbb"}
    assert "zrs=" in rosidl_runtime_py.message_to_yaml(b"\xce\xbb")
    assert message_to_csv(b"\xce\xbb") == "b'\\xce\\xbb'"


@pytest.mark.parametrize("name", sorted(test_msgs.msg.__all__))
def test_fixtures_become_text_and_stay_as_they_are(name: str) -> None:
    for message in get_test_msg(name):
        before = copy.deepcopy(message)
        set_message_fields(message, {})
        for function in (message_to_csv, rosidl_runtime_py.message_to_yaml):
            function(message, truncate_length=2)
        assert message == before


@pytest.mark.parametrize("name", sorted(test_msgs.msg.__all__))
def test_fixtures_differ_from_each_other(name: str) -> None:
    # Those who receive them wait until they have seen as many different ones as there are.
    fixtures = get_test_msg(name)
    assert fixtures
    assert len({repr(message) for message in fixtures}) == len(fixtures)


@pytest.mark.parametrize("name", sorted(test_msgs.srv.__all__))
def test_fixtures_of_services_come_in_pairs(name: str) -> None:
    pairs = get_test_srv(name)
    kind = getattr(test_msgs.srv, name)
    for pair in pairs:
        assert [type(part) for part in pair] == [kind.Request, kind.Response]
        for part in pair:
            assert repr(deserialize_message(serialize_message(part), type(part))) == repr(part)
    assert [pairs.index(pair) for pair in pairs] == list(range(len(pairs)))


def test_fields_from_messages_and_bytes_from_text() -> None:
    outer, inner = Nested(), BasicTypes(int32_value=7)
    set_message_fields(outer, {"basic_types_value": inner})
    assert outer.basic_types_value == inner
    many = UnboundedSequences()
    set_message_fields(many, {"basic_types_values": [inner, {"int8_value": 3}], "byte_values": ["é"]})
    assert [item.int32_value for item in many.basic_types_values] == [7, 0]
    assert many.byte_values == [b"\xe9"]


def test_wrong_fields() -> None:
    with pytest.raises(AttributeError, match="'String' object has no attribute 'dta'"):
        set_message_fields(String(), {"dta": "x"})
    with pytest.raises(TypeError, match="is expected to be a dictionary but is a str"):
        set_message_fields(String(), "x")  # type: ignore[arg-type]


def test_descriptions_in_place_of_arrays() -> None:
    assert message_to_csv(Arrays(), no_arr=True).startswith("<array type: boolean[3]>,")
    assert message_to_csv(BoundedSequences(), no_arr=True).startswith(
        "<sequence type: boolean[3], length: 0>,"
    )
    assert "<sequence type: uint8, length: 2>" in message_to_csv(
        UnboundedSequences(uint8_values=[1, 2]), no_arr=True
    )
    assert message_to_csv(Byte(data=b"2")) == "b'2'"


def test_specifications_keep_comments_units_and_defaults() -> None:
    text = "# head\n\nint32 TWO=2 # why\n# above\nfloat64[3] size [1, 2, 3] # [m]\n"
    text += "string<=5 name 'x'\nOther[<=4] more\n"
    found = parse_message_string("pkg", "Thing", text)
    assert found.annotations == {"comment": ["head"]}
    assert [(c.name, c.value, c.annotations["comment"]) for c in found.constants] == [("TWO", 2, ["why"])]
    size, name, more = found.fields
    assert size.default_value == [1.0, 2.0, 3.0]
    assert size.annotations == {"comment": ["above"], "unit": "m"}
    assert (name.type.string_upper_bound, name.default_value) == (5, "x")
    assert str(more.type) == "pkg/Other[<=4]"
    assert more.type.is_dynamic_array()
    assert len(parse_service_string("pkg", "Ask", "int32 a\n---\nint32 b\n").response.fields) == 1
    assert parse_action_string("pkg", "Do", "int32 a\n---\n---\nint32 c\n").feedback.fields[0].name == "c"


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("int32", InvalidFieldDefinition),
        ("lower x", InvalidResourceName),
        ("int32 X", NameError),
        ("uint8 x 300", InvalidValue),
        ("float32[2] x [1]", InvalidValue),
        ("string<=none x", TypeError),
    ],
)
def test_wrong_declarations(line: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        parse_message_string("pkg", "Thing", line)


def test_a_service_needs_its_separator() -> None:
    with pytest.raises(InvalidServiceSpecification, match="Could not find separator"):
        parse_service_string("pkg", "Ask", "int32 a\n")


def test_packages_of_pip_are_listed_beside_those_of_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "share/ament_index/resource_index/packages"
    folder.mkdir(parents=True)
    (folder / "bare").touch()
    assert sys.prefix in ament_index_python.get_search_paths()
    monkeypatch.setenv("AMENT_PREFIX_PATH", os.pathsep.join([str(tmp_path), "/nowhere", sys.prefix]))
    assert ament_index_python.get_search_paths() == [str(tmp_path), sys.prefix]
    assert {"bare", "std_msgs", "rclpy"} <= ament_index_python.get_packages_with_prefixes().keys()
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    assert ament_index_python.get_packages_with_prefixes() == {"bare": str(tmp_path)}
    assert ament_index_python.get_package_share_path("std_msgs").is_dir()
    with pytest.warns(UserWarning, match="share directory .* of bare does not exist"):
        ament_index_python.get_package_share_directory("bare")
    monkeypatch.delenv("AMENT_PREFIX_PATH")
    with pytest.raises(OSError, match="not set or empty"):
        ament_index_python.get_search_paths()


@pytest.mark.parametrize("name", ["_a", "a b", "a/b", "a.b", "a"])
def test_names_that_no_package_has(name: str) -> None:
    with pytest.raises(ValueError, match="is not a valid package name"):
        ament_index_python.get_package_prefix(name)


def test_resource_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "share/ament_index/resource_index/colours"
    folder.mkdir(parents=True)
    (folder / "red").write_text("#ff0000")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    assert cli.main(["colours", "red"]) is None
    assert capsys.readouterr().out == f"{tmp_path}\n<<<\n#ff0000\n>>>\n"
    assert cli.main(["colours", "blue"]) == "Could not find the resource 'blue' of type 'colours'"
    assert "colours" in ament_index_python.get_resource_types()
    assert cli.resource_type_completer("col") == ["colours"]
    assert ament_index_python.has_resource("colours", "blue") is False
    with pytest.raises(ament_index_python.InvalidResourceTypeNameError):
        ament_index_python.has_resource("a/b", "c")
    with pytest.raises(ament_index_python.InvalidResourceNameError):
        ament_index_python.get_resource("a", "b/c")
