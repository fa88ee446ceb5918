"""Message classes: defaults, constants, storage, checks."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
from array import array

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from example_interfaces.action import Fibonacci
from geometry_msgs.msg import PoseWithCovariance, Quaternion
from sensor_msgs.msg import Image, JointState, NavSatStatus
from std_msgs.msg import Header, String
from std_srvs.srv import SetBool
from test_msgs.msg import Arrays, Constants, Defaults

import ros2_embedded
from ros2_embedded.rosidl.registry import distribution, get_definition, select_distribution


def test_declared_defaults_are_used() -> None:
    assert Quaternion().w == 1.0
    assert NavSatStatus().status == -2
    message = Defaults()
    assert (message.bool_value, message.byte_value, message.int16_value) == (True, b"\x32", -1000)


def test_constants_have_python_types() -> None:
    assert Constants.FLOAT32_CONST == 1.125
    assert Constants.BYTE_CONST == b"\x32"
    assert DiagnosticStatus.ERROR == b"\x02"


def test_storage_of_numeric_fields_is_that_of_rclpy() -> None:
    assert isinstance(JointState().position, array)
    assert isinstance(PoseWithCovariance().covariance, np.ndarray)
    assert PoseWithCovariance().covariance.shape == (36,)


def test_arrays_of_integers_take_integers_alone() -> None:
    assert list(Arrays(int32_values=[1, True, np.int64(3)]).int32_values) == [1, 1, 3]
    for wrong in ([1.5, 2, 3], [1.0, 2.0, 3.0], [np.nan, 2, 3]):
        with pytest.raises((TypeError, ValueError)):
            Arrays(int32_values=wrong)
    assert list(Arrays(uint64_values=[2**64 - 1, 1, 0]).uint64_values) == [2**64 - 1, 1, 0]
    assert list(Arrays(float32_values=[1, 2, 3]).float32_values) == [1.0, 2.0, 3.0]


def test_messages_do_not_share_defaults() -> None:
    first, second = JointState(), JointState()
    first.name.append("a")
    first.header.frame_id = "b"
    assert second == JointState()


def test_equality_ignores_storage() -> None:
    assert JointState(position=[1.0, 2.0]) == JointState(position=np.array([1.0, 2.0]))
    assert Image(data=b"\x01\x02") == Image(data=[1, 2])
    assert Image(data=b"\x01\x02") != Image(data=[1, 3])
    assert String(data="a") != Header(frame_id="a")


def test_unknown_keyword_is_refused() -> None:
    with pytest.raises(TypeError, match="nonsense"):
        String(nonsense=1)


def test_field_types_are_idl_names() -> None:
    types = JointState.get_fields_and_field_types()
    assert types["header"] == "std_msgs/Header"
    assert types["position"] == "sequence<double>"
    assert PoseWithCovariance.get_fields_and_field_types()["covariance"] == "double[36]"


def test_services_and_actions_are_namespaces() -> None:
    assert SetBool.Request(data=True).data is True
    assert SetBool.Response().message == ""
    goal = Fibonacci.Impl.SendGoalService.Request(goal=Fibonacci.Goal(order=3))
    assert goal.goal.order == 3
    with pytest.raises(NotImplementedError):
        SetBool()


def test_deep_copy() -> None:
    message = JointState(name=["a"], position=[1.0])
    twin = copy.deepcopy(message)
    twin.name.append("b")
    assert message.name == ["a"]


def test_repr_names_type_and_fields() -> None:
    assert repr(String(data="x")) == "std_msgs.msg.String(data='x')"


@pytest.mark.parametrize(
    ("message", "field", "value"),
    [
        (String(), "data", 1),
        (Image(), "height", -1),
        (Image(), "header", String()),
        (JointState(), "name", [1]),
        (PoseWithCovariance(), "covariance", [0.0] * 35),
    ],
)
def test_checks_refuse_at_the_assignment_while_on(message: object, field: str, value: object) -> None:
    ros2_embedded.checks(True)
    try:
        with pytest.raises(AssertionError, match=field):
            setattr(message, field, value)
    finally:
        ros2_embedded.checks(False)


def test_messages_are_importable_before_rclpy() -> None:
    code = "import sys; from sensor_msgs.msg import Image; print('rclpy' in sys.modules, Image().height)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False 0"


def test_start_hook_imports_nothing_heavy() -> None:
    code = "import sys; print([m for m in ('numpy', 'zenoh', 'importlib.metadata') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_missing_interface_is_an_import_error() -> None:
    with pytest.raises(ImportError):
        from std_msgs.msg import NoSuchMessage  # noqa: F401
    with pytest.raises(ImportError):
        import no_such_msgs.msg  # noqa: F401


def _in_process(code: str, *words: str, **environment: str) -> str:
    variables = {**os.environ, **environment}
    command = [sys.executable, "-c", code, *words]
    return subprocess.run(command, env=variables, text=True, check=True, capture_output=True).stdout.strip()


def test_distribution_chooses_the_standard_messages() -> None:
    fields = "from lifecycle_msgs.msg import TransitionEvent as T; print(T.get_fields_and_field_types())"
    assert "uint64" in _in_process(fields, ROS_DISTRO="jazzy")
    assert "builtin_interfaces/Time" in _in_process(fields, ROS_DISTRO="lyrical")
    select = "from ros2_embedded.rosidl.registry import select_distribution as s; s('lyrical'); "
    assert "builtin_interfaces/Time" in _in_process(select + fields, ROS_DISTRO="")


def test_distribution_cannot_change_late() -> None:
    get_definition("std_msgs/msg/String")
    other = "jazzy" if distribution() in ("lyrical", "rolling") else "lyrical"
    with pytest.raises(RuntimeError, match="before messages are imported"):
        select_distribution(other)
    with pytest.raises(ValueError, match="known are jazzy"):
        select_distribution("hydro")


@pytest.mark.parametrize("distro", ["humble", "jazzy"])
def test_bundled_messages_are_those_of_the_stores(distro: str) -> None:
    typesys = pytest.importorskip("rosbags.typesys")
    store = typesys.get_typestore(typesys.Stores[f"ROS2_{distro.upper()}"])
    # rosbags keeps `char` as a type of its own; ROS 2 hashes it as uint8.
    with_char = ("rmw_dds_common/", "service_msgs/", "std_msgs/msg/Char")
    names = [name for name in store.fielddefs if not name.startswith(with_char)]
    assert len(names) > 140
    code = (
        "import sys; from ros2_embedded.rosidl.type_hash import type_hash as h; print(*map(h, sys.argv[1:]))"
    )
    hashes = _in_process(code, *names, ROS_DISTRO=distro).split()
    pairs = zip(names, hashes, strict=True)
    assert [name for name, found in pairs if found != store.hash_rihs01(name)] == []


def test_checks_can_be_asked_for() -> None:
    with pytest.raises(AssertionError, match="'data' field must be of type 'str'"):
        String(data=1, check_fields=True)
    assert String(data=1).data == 1
    code = "from std_msgs.msg import String\ntry: String().data = 1\nexcept AssertionError as e: print(e)"
    assert "must be of type 'str'" in _in_process(code, ROS_PYTHON_CHECK_FIELDS="1")
    assert _in_process(code, ROS_PYTHON_CHECK_FIELDS="0") == ""
