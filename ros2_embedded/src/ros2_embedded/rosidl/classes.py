"""Makes the Python classes of messages, services and actions, and keeps their CDR functions."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ros2_embedded.rosidl.cdr_reader import make_deserializer
from ros2_embedded.rosidl.cdr_support import DTYPES, SerializationError
from ros2_embedded.rosidl.cdr_writer import make_serializer
from ros2_embedded.rosidl.definition import NUMERIC, PLACEHOLDER, Definition, Field, FieldType
from ros2_embedded.rosidl.message import Message, explain, require_fit
from ros2_embedded.rosidl.module_names import module_of
from ros2_embedded.rosidl.numeric_fields import converting_field, storage_of
from ros2_embedded.rosidl.parser import InterfaceSyntaxError
from ros2_embedded.rosidl.registry import InterfaceNotFoundError, get_definition, interfaces_of

_classes: dict[str, type] = {}
_serializers: dict[str, Callable[[Any], bytearray]] = {}
_deserializers: dict[str, Callable[[Any], Any]] = {}
_in_work: list[str] = []
"""Messages whose classes are being made, each a field of the one before it."""
_lock = threading.RLock()
_ZEROS = {"string": "", "wstring": "", "bool": False, "byte": b"\x00", "float32": 0.0, "float64": 0.0}


def _default_factory(field: Field) -> Callable[[], Any]:
    """Return a function that makes the default of a field."""
    kind = field.type
    single = kind.kind == "single"
    if not kind.is_primitive:
        nested = class_of(kind.base)
        if single:
            return nested
        count = kind.size if kind.kind == "array" else 0
        return lambda: [nested() for _ in range(count)]
    zero = _ZEROS.get(kind.base, 0)
    if single:
        value = zero if field.default is None else field.default
        return lambda: value
    return _collection_factory(kind, field.default, zero)


def _collection_factory(kind: FieldType, default: list[Any] | None, zero: Any) -> Callable[[], Any]:
    """Return the default of an array (numpy for numbers) or a sequence (`array.array` for numbers)."""
    values = list(default) if default is not None else [zero] * (kind.size if kind.kind == "array" else 0)
    if kind.base not in NUMERIC:
        return lambda: list(values)
    if kind.kind == "array":
        prototype = np.array(values, DTYPES[kind.base])
        return prototype.copy
    code = NUMERIC[kind.base][1]
    return lambda: array(code, values)


def _make_init(definition: Definition, fields: Sequence[Field]) -> Callable[..., None]:
    """Return an `__init__` with a keyword for each field, compiled because it runs for each message.

    Its other names begin with an underscore, as no field's does.
    """
    names: dict[str, Any] = {}
    arguments, body = [], []
    for index, field in enumerate(fields):
        arguments.append(f"{field.name}=None")
        factory = _default_factory(field)
        kind = field.type
        names[f"_default{index}"] = factory
        make = f"_default{index}()"
        given = field.name
        if kind.kind == "single" and kind.is_primitive:
            names[f"_default{index}"] = factory()
            make = f"_default{index}"
        if kind.base in NUMERIC and kind.kind != "single":
            names[f"_stored{index}"] = storage_of(kind)
            given = f"_stored{index}({given})"
        body.append(f"    _self._{field.name} = {make} if {field.name} is None else {given}")
    names["_check"] = require_fit
    values = "".join(f", {field.name}" for field in fields)
    body.insert(0, f"    if check_fields: _check(_self{values})")
    source = "\n".join([f"def __init__(_self, *, {', '.join([*arguments, 'check_fields=False'])}):", *body])
    exec(compile(source, f"<constructor of {definition.name}>", "exec"), names)
    init: Callable[..., None] = names["__init__"]
    return init


def _make_message_class(definition: Definition) -> type[Message]:
    """Return the class of a message-like definition."""
    fields = [field for field in definition.fields if field.name != PLACEHOLDER]
    types = {field.name: str(field.type) for field in fields}
    attributes: dict[str, Any] = {constant.name: constant.value for constant in definition.constants}
    for field in fields:
        if field.default is not None:
            attributes[f"{field.name.upper()}__DEFAULT"] = field.default
    attributes.update(
        __slots__=tuple(f"_{name}" for name in types),
        __init__=_make_init(definition, fields),
        __doc__=f"The interface {definition.name}: " + ", ".join(f"{n} ({t})" for n, t in types.items()),
        __module__=module_of(definition.name),
        _TYPE_NAME=definition.name,
        _fields_and_field_types=types,
        _FIELD_TYPES=tuple(field.type for field in fields),
    )
    made = type(definition.short_name, (Message,), attributes)
    for field in fields:
        # A slot is a descriptor, and access by a second name is as fast as by the first.
        slot = made.__dict__[f"_{field.name}"]
        numeric = field.type.base in NUMERIC and field.type.kind != "single"
        setattr(made, field.name, converting_field(field, slot) if numeric else slot)
    return made


def class_of(name: str) -> type:
    """Return the message class of a full name, e.g. `std_msgs/msg/Header`.

    Raises:
        InterfaceNotFoundError: no package provides it.
        InterfaceSyntaxError: its file cannot be parsed, or it contains itself.
    """
    found = _classes.get(name)
    if found is None:
        with _lock:
            found = _classes.get(name)
            if found is None:
                if name in _in_work:
                    raise InterfaceSyntaxError(f"a message contains itself: {' > '.join([*_in_work, name])}")
                _in_work.append(name)
                try:
                    found = _classes[name] = _make_message_class(get_definition(name))
                finally:
                    _in_work.pop()
    return found


class _NotInstantiable(type):
    """Metaclass of services and actions, which are namespaces and must not be instantiated."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{cls.__name__} cannot be instantiated; use one of its message types")


def service_class(name: str) -> type:
    """Return the class of a service (`std_srvs/srv/Trigger`) with `.Request`, `.Response` and `.Event`."""
    with _lock:
        if name not in _classes:
            short = name.split("/")[2]
            parts = {part: class_of(f"{name}_{part}") for part in ("Request", "Response", "Event")}
            attributes = {
                "_TYPE_NAME": name,
                "__module__": module_of(name),
                "__doc__": f"The service {name}.",
            }
            _classes[name] = _NotInstantiable(short, (), {**attributes, **parts})
        return _classes[name]


def action_class(name: str) -> type:
    """Return the class of an action with `.Goal`, `.Result`, `.Feedback`, `.Impl` (services and topics)."""
    with _lock:
        if name not in _classes:
            short = name.split("/")[2]
            impl = {
                "SendGoalService": service_class(f"{name}_SendGoal"),
                "GetResultService": service_class(f"{name}_GetResult"),
                "FeedbackMessage": class_of(f"{name}_FeedbackMessage"),
                "CancelGoalService": service_class("action_msgs/srv/CancelGoal"),
                "GoalStatusMessage": class_of("action_msgs/msg/GoalStatusArray"),
            }
            parts = {part: class_of(f"{name}_{part}") for part in ("Goal", "Result", "Feedback")}
            attributes = {
                "_TYPE_NAME": name,
                "__module__": module_of(name),
                "__doc__": f"The action {name}.",
                "Impl": _NotInstantiable("Impl", (), impl),
            }
            _classes[name] = _NotInstantiable(short, (), {**attributes, **parts})
        return _classes[name]


def interface_class(name: str) -> type:
    """Return the class of any interface by `package/kind/Name`.

    Raises:
        InterfaceNotFoundError: no package provides it.
    """
    package, _, rest = name.partition("/")
    kind, _, short = rest.partition("/")
    if kind in ("srv", "action") and short in interfaces_of(package)[kind]:
        return service_class(name) if kind == "srv" else action_class(name)
    if kind == "action" and short.endswith(("_SendGoal", "_GetResult")):
        get_definition(name)  # raises where there is no such action
        return service_class(name)
    if kind not in ("msg", "srv", "action") or not short:
        raise InterfaceNotFoundError(f"{name!r} is not an interface name; write package/msg/Name")
    return class_of(name)


def serialize(message: Message) -> bytearray:
    """Return the CDR form of a message, encapsulation header included.

    Raises:
        SerializationError: a field holds a value its type does not allow; the message names the field.
    """
    name = message._TYPE_NAME
    function = _serializers.get(name)
    if function is None:
        function = _serializers[name] = make_serializer(get_definition(name))
    try:
        return function(message)
    except Exception as error:  # a wrong value may raise anything, and the caller needs the field's name
        reason = explain(message) or str(error)
        raise SerializationError(f"cannot serialise {name}: {reason}") from error


def deserialize(data: bytes | bytearray | memoryview, message_type: type) -> Any:
    """Return the message held by CDR bytes.

    Raises:
        SerializationError: the bytes are not a message of this type.
    """
    name: str = message_type._TYPE_NAME  # type: ignore[attr-defined]
    function = _deserializers.get(name)
    if function is None:
        function = _deserializers[name] = make_deserializer(get_definition(name), class_of)
    return function(data)
