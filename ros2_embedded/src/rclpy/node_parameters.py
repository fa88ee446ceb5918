"""The parameters of a node: declaration, checks, callbacks, events."""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from rcl_interfaces.msg import (
    ListParametersResult,
    ParameterDescriptor,
    ParameterEvent,
    ParameterType,
    ParameterValue,
    SetParametersResult,
)

from rclpy.exceptions import (
    InvalidParameterTypeException,
    InvalidParameterValueException,
    ParameterAlreadyDeclaredException,
    ParameterImmutableException,
    ParameterNotDeclaredException,
    ParameterUninitializedException,
)
from rclpy.impl.parameter_ranges import RELATIVE_TOLERANCE, check_range
from rclpy.parameter import PARAMETER_SEPARATOR_STRING, Parameter
from rclpy.validate_parameter_name import validate_parameter_name

if TYPE_CHECKING:
    from rclpy.clock import Clock

SetCallback = Callable[[list[Parameter]], Any]
Callback = TypeVar("Callback", bound=Callable[..., Any])


def _takes_one(callback: Callback) -> Callback:
    """The callback itself.

    Raises:
        TypeError: it cannot be called with one argument, the list of parameters.
    """
    try:
        inspect.signature(callback).bind([])
    except ValueError:  # a built-in function does not tell
        pass
    except TypeError as error:
        raise TypeError(f"{callback!r} must take one argument, the list of parameters: {error}") from error
    return callback


def _ok() -> Any:
    return SetParametersResult(successful=True)


def _refused(reason: str) -> Any:
    return SetParametersResult(successful=False, reason=reason)


def _type_of(value: Any) -> Parameter.Type:
    """The type of a default value, which may be a `ParameterValue`."""
    if isinstance(value, ParameterValue):
        return Parameter.Type(value.type)
    return Parameter.Type.from_parameter_value(value)


def _override(name: str, value: Any) -> Any:
    """A value from outside as a parameter; what no type fits as it is, refused where it is declared."""
    try:
        return Parameter(name, value=value)
    except TypeError:
        return value


def _is_listed(name: str, prefix: str, depth: int) -> bool:
    """True for a parameter of a group (of any, when the prefix is empty) at most `depth` levels below."""
    separator = PARAMETER_SEPARATOR_STRING
    if prefix and name == prefix:
        return True
    if prefix and not name.startswith(prefix + separator):
        return False
    rest = name[len(prefix) + len(separator) :] if prefix else name
    return depth == 0 or rest.count(separator) < depth


class ParameterMixin:
    """Parameters of a node; everything named here is public in rclpy."""

    _parameters: dict[str, Parameter]
    _descriptors: dict[str, Any]
    _parameter_overrides: dict[str, Any]
    _allow_undeclared_parameters: bool
    _pre_set_parameters_callbacks: list[Callable[[list[Parameter]], list[Parameter]]]
    _on_set_parameters_callbacks: list[SetCallback]
    _post_set_parameters_callbacks: list[Callable[[list[Parameter]], None]]
    _rclpy_event_publisher: Any
    PARAM_REL_TOL = RELATIVE_TOLERANCE
    """Numbers that differ by less, relatively, count as a bound or a step of a range."""

    if TYPE_CHECKING:

        def get_clock(self) -> Clock: ...
        def get_fully_qualified_name(self) -> str: ...

    def _rclpy_init_parameters(self, overrides: dict[str, Any], allow_undeclared: bool) -> None:
        """Start without parameters."""
        self._parameters, self._descriptors = {}, {}
        self._parameter_overrides = {name: _override(name, value) for name, value in overrides.items()}
        self._allow_undeclared_parameters = allow_undeclared
        self._pre_set_parameters_callbacks, self._on_set_parameters_callbacks = [], []
        self._post_set_parameters_callbacks = []
        self._rclpy_event_publisher = None

    def declare_parameter(
        self, name: str, value: Any = None, descriptor: Any = None, ignore_override: bool = False
    ) -> Parameter:
        """Declare a parameter and give it a value.

        Args:
            name: dots make groups.
            value: default value, or a `Parameter.Type` for a parameter that gets its value from outside;
                None without a descriptor declares a parameter of any type.
            descriptor: `rcl_interfaces/msg/ParameterDescriptor`.
            ignore_override: do not take a value from the command line or from `parameter_overrides`.

        Raises:
            ParameterAlreadyDeclaredException, InvalidParameterException, InvalidParameterTypeException,
            InvalidParameterValueException: see there.
            TypeError: the name is no text, or the descriptor no descriptor.
            ValueError: of static type, with neither a value nor a type.
        """
        entry = (name,) if value is None and descriptor is None else (name, value, descriptor)
        if len(entry) == 1:
            warnings.warn(
                f"when declaring parameter named '{name}', declaring a parameter only providing its name is "
                "deprecated: pass a default value, a type, or a descriptor with `dynamic_typing=True`",
                stacklevel=2,
            )
        return self.declare_parameters("", [entry], ignore_override)[0]

    def declare_parameters(
        self, namespace: str, parameters: Sequence[tuple[Any, ...]], ignore_override: bool = False
    ) -> list[Parameter]:
        """Declare several: tuples of name, value and descriptor; `namespace` and a dot go in front.

        A tuple of a name alone, which rclpy deprecates, declares a parameter of any type.

        Raises:
            TypeError: a tuple of another form.
            ParameterAlreadyDeclaredException, InvalidParameterException: nothing was declared.
            InvalidParameterTypeException, InvalidParameterValueException: those before are declared.
        """
        prefix = f"{namespace}." if namespace else ""
        prepared = [
            self._rclpy_prepare(prefix, index, entry, ignore_override)
            for index, entry in enumerate(parameters)
        ]
        known = [parameter.name for parameter, _ in prepared if parameter.name in self._parameters]
        if known:
            raise ParameterAlreadyDeclaredException(known)
        for parameter, descriptor in prepared:
            self._rclpy_declare(parameter, descriptor)
        return [self._parameters[parameter.name] for parameter, _ in prepared]

    def _rclpy_prepare(
        self, prefix: str, index: int, entry: tuple[Any, ...], ignore_override: bool
    ) -> tuple[Parameter, Any]:
        """The first value and the descriptor of a parameter to declare."""
        if not 1 <= len(entry) <= 3:
            raise TypeError(f"Invalid parameter tuple length at index {index}: {entry}; expected 1 to 3")
        if not isinstance(entry[0], str):
            raise TypeError(f"First element {entry[0]!r} at index {index} in parameters list is not a str.")
        name = prefix + entry[0]
        validate_parameter_name(name)
        default = entry[1] if len(entry) > 1 else None
        descriptor = entry[2] if len(entry) > 2 and entry[2] is not None else ParameterDescriptor()
        if not isinstance(descriptor, ParameterDescriptor):
            raise TypeError(
                f"Third element {descriptor!r} at index {index} in parameters list is not a "
                "ParameterDescriptor."
            )
        descriptor = copy.copy(descriptor)  # that of the caller may serve for other parameters
        if len(entry) == 1:
            descriptor.dynamic_typing = True
        descriptor.name = name
        if isinstance(default, Parameter.Type):
            if descriptor.dynamic_typing or default is Parameter.Type.NOT_SET:
                raise ValueError(f"{name}: a type is for parameters of static type, and must be a real one")
            descriptor.type, default = default.value, None
        elif not descriptor.dynamic_typing:
            descriptor.type = _type_of(default).value
            if not descriptor.type:
                raise ValueError(f"{name}: a parameter of static type needs a default value, or a type")
        if not ignore_override and name in self._parameter_overrides:
            override = self._parameter_overrides[name]
            default = override.value if isinstance(override, Parameter) else override
        try:
            return Parameter(name, value=default), descriptor
        except TypeError as error:
            raise TypeError(f"parameter {name!r}: {error}") from error

    def _rclpy_declare(self, parameter: Parameter, descriptor: Any) -> None:
        """Check a prepared parameter and keep it."""
        self._descriptors[parameter.name] = descriptor
        if parameter.type_ is Parameter.Type.NOT_SET and not descriptor.dynamic_typing:
            self._parameters[parameter.name] = parameter
            return
        try:
            self._rclpy_apply_checked([parameter], declaring=True)
        except Exception:
            del self._descriptors[parameter.name]
            raise

    def undeclare_parameter(self, name: str) -> None:
        """Forget a parameter.

        Raises:
            ParameterNotDeclaredException, ParameterImmutableException: see there.
        """
        if name not in self._parameters:
            raise ParameterNotDeclaredException(name)
        if self._descriptors[name].read_only:
            raise ParameterImmutableException(name)
        del self._parameters[name], self._descriptors[name]

    def has_parameter(self, name: str) -> bool:
        """True when the parameter is declared."""
        return name in self._parameters

    def get_parameter(self, name: str) -> Parameter:
        """A parameter.

        Raises:
            ParameterNotDeclaredException: not declared, and undeclared ones are not allowed.
            ParameterUninitializedException: of static type and without a value.
        """
        parameter = self._parameters.get(name)
        if parameter is None:
            if self._allow_undeclared_parameters:
                return Parameter(name)
            raise ParameterNotDeclaredException(name)
        if parameter.type_ is Parameter.Type.NOT_SET and not self._descriptors[name].dynamic_typing:
            raise ParameterUninitializedException(name)
        return parameter

    def get_parameters(self, names: list[str]) -> list[Parameter]:
        """Several parameters; see `get_parameter`."""
        if not all(isinstance(name, str) for name in names):
            raise TypeError("All names must be instances of type str")
        return [self.get_parameter(name) for name in names]

    def get_parameter_or(self, name: str, alternative_value: Parameter | None = None) -> Parameter:
        """A parameter, or the alternative when it is not declared or has no value."""
        try:
            found = self.get_parameter(name)
        except (ParameterNotDeclaredException, ParameterUninitializedException):
            found = Parameter(name)
        missing = found.type_ is Parameter.Type.NOT_SET
        return alternative_value if missing and alternative_value is not None else found

    def get_parameters_by_prefix(self, prefix: str) -> dict[str, Parameter]:
        """Parameters of a group, by name without the prefix."""
        start = f"{prefix}." if prefix else ""
        return {name[len(start) :]: p for name, p in self._parameters.items() if name.startswith(start)}

    def get_parameter_types(self, names: list[str]) -> list[Parameter.Type]:
        """The types of several parameters."""
        return [self.get_parameter_type(name) for name in names]

    def get_parameter_type(self, name: str) -> Parameter.Type:
        """The type of a parameter.

        Raises:
            ParameterNotDeclaredException: see there.
        """
        if name in self._parameters:
            return self._parameters[name].type_
        if self._allow_undeclared_parameters:
            return Parameter.Type.NOT_SET
        raise ParameterNotDeclaredException(name)

    def describe_parameter(self, name: str) -> Any:
        """The descriptor of a parameter.

        Raises:
            ParameterNotDeclaredException: see there.
        """
        if name in self._descriptors:
            return self._descriptors[name]
        if self._allow_undeclared_parameters:
            return ParameterDescriptor()
        raise ParameterNotDeclaredException(name)

    def describe_parameters(self, names: list[str]) -> list[Any]:
        """The descriptors of several parameters."""
        return [self.describe_parameter(name) for name in names]

    def list_parameters(self, prefixes: list[str], depth: int) -> Any:
        """Names of parameters and of their groups, a `ListParametersResult`.

        Args:
            prefixes: groups wanted; none for all.
            depth: levels below the prefix, or `ListParameters.Request.DEPTH_RECURSIVE` for all of them.

        Raises:
            TypeError, ValueError: no list of texts, no integer, or a negative one.
        """
        if not isinstance(prefixes, list) or not all(isinstance(prefix, str) for prefix in prefixes):
            raise TypeError(f"prefixes must be a list of str, not {prefixes!r}")
        if not isinstance(depth, int):
            raise TypeError(f"depth must be an int, not {depth!r}")
        if depth < 0:
            raise ValueError("depth must be greater than or equal to zero")
        result = ListParametersResult()
        for name in self._parameters:
            if any(_is_listed(name, prefix, depth) for prefix in prefixes or [""]):
                result.names.append(name)
                group, separator, _ = name.rpartition(PARAMETER_SEPARATOR_STRING)
                if separator and group not in result.prefixes:
                    result.prefixes.append(group)
        return result

    def set_descriptor(self, name: str, descriptor: Any, alternative_value: Any = None) -> Any:
        """Replace a descriptor; returns the value the parameter has then.

        Raises:
            ParameterNotDeclaredException, ParameterImmutableException, InvalidParameterValueException: see
            there.
        """
        if name not in self._parameters:
            raise ParameterNotDeclaredException(name)
        if self._descriptors[name].read_only:
            raise ParameterImmutableException(name)
        former, value = self._descriptors[name], self._parameters[name].get_parameter_value()
        wanted = self._parameters[name].value if alternative_value is None else alternative_value
        descriptor = copy.copy(descriptor)
        descriptor.name = name
        if not descriptor.dynamic_typing:
            descriptor.type = Parameter.Type.from_parameter_value(wanted).value
        self._descriptors[name] = descriptor
        try:
            self._rclpy_apply_checked([Parameter(name, value=wanted)], declaring=True)
        except Exception:
            self._descriptors[name] = former
            raise
        return value

    def set_parameters(self, parameter_list: list[Parameter]) -> list[Any]:
        """Set parameters one after the other; returns a `SetParametersResult` for each.

        Raises:
            ParameterNotDeclaredException: one is not declared, and undeclared ones are not allowed.
        """
        return [self.set_parameters_atomically([parameter]) for parameter in parameter_list]

    def set_parameters_atomically(self, parameter_list: list[Parameter]) -> Any:
        """Set all parameters, or none; returns one `SetParametersResult`.

        Raises:
            ParameterNotDeclaredException: one is not declared, and undeclared ones are not allowed.
        """
        if self._pre_set_parameters_callbacks:
            given = parameter_list
            callbacks = self._pre_set_parameters_callbacks
            parameter_list = [found for callback in callbacks for found in callback(given)]
            if not parameter_list:
                return _refused(
                    "parameter list cannot be empty, this might be due to pre_set_parameters_callback "
                    "modifying the original parameters list."
                )
        if not all(isinstance(parameter, Parameter) for parameter in parameter_list):
            raise TypeError(f"parameter must be instance of type {Parameter!r}")
        missing = [p.name for p in parameter_list if p.name not in self._parameters]
        if missing and not self._allow_undeclared_parameters:
            raise ParameterNotDeclaredException(missing)
        try:
            self._rclpy_apply_checked(parameter_list)
        except InvalidParameterTypeException as error:
            return _refused(f"Wrong parameter type: {error}")
        except (ParameterImmutableException, InvalidParameterValueException) as error:
            return _refused(getattr(error, "reason", "") or str(error))
        return _ok()

    def _rclpy_apply_checked(self, parameters: list[Parameter], declaring: bool = False) -> None:
        """Check everything, ask the callbacks, store, tell."""
        for parameter in parameters:
            self._rclpy_check(parameter, declaring)
        for callback in self._on_set_parameters_callbacks:
            result = callback(parameters)
            if not isinstance(result, SetParametersResult):
                warnings.warn(
                    f"a callback for parameters returned {result!r} in place of a SetParametersResult",
                    stacklevel=2,
                )
                result = _refused("Callback returned an invalid type")
            if not result.successful:
                first = parameters[0]
                raise InvalidParameterValueException(first.name, first.value, result.reason)
        self._rclpy_store(parameters, declaring)
        for post in self._post_set_parameters_callbacks:
            post(parameters)

    def _rclpy_check(self, parameter: Parameter, declaring: bool) -> None:
        """Check one value against its descriptor."""
        descriptor = self._descriptors.get(parameter.name)
        if descriptor is None:
            return
        if descriptor.read_only and not declaring:
            raise ParameterImmutableException(parameter.name)
        number = parameter.type_.value
        if not number and not declaring and not descriptor.dynamic_typing:
            raise InvalidParameterValueException(
                parameter.name, parameter.value, "Static parameter cannot be undeclared"
            )
        is_empty_list = number == 5 and not list(parameter.value)  # fits each array type
        if not descriptor.dynamic_typing and descriptor.type not in (0, number) and not is_empty_list:
            raise InvalidParameterTypeException(parameter, Parameter.Type(descriptor.type).name)
        if number in (ParameterType.PARAMETER_INTEGER, ParameterType.PARAMETER_DOUBLE):
            reason = check_range(parameter.value, descriptor, self.PARAM_REL_TOL)
            if reason:
                raise InvalidParameterValueException(parameter.name, parameter.value, reason)

    def _rclpy_store(self, parameters: list[Parameter], declaring: bool) -> None:
        """Keep the values and publish the event; a value that is not set deletes its parameter."""
        stamp = self.get_clock().now().to_msg()
        event = ParameterEvent(stamp=stamp, node=self.get_fully_qualified_name())
        for parameter in parameters:
            known = parameter.name in self._parameters
            descriptor = self._descriptors.setdefault(
                parameter.name, ParameterDescriptor(name=parameter.name, dynamic_typing=True)
            )
            if parameter.type_ is Parameter.Type.NOT_SET and known and not declaring:
                self._parameters.pop(parameter.name)
                self._descriptors.pop(parameter.name)
                event.deleted_parameters.append(parameter.to_parameter_msg())
                continue
            if parameter.type_.value == 5 and not list(parameter.value) and descriptor.type:
                parameter = Parameter(parameter.name, Parameter.Type(descriptor.type), [])
            self._parameters[parameter.name] = parameter
            if descriptor.dynamic_typing or not descriptor.type:
                descriptor.type = parameter.type_.value
            changes = event.changed_parameters if known else event.new_parameters
            changes.append(parameter.to_parameter_msg())
        if self._rclpy_event_publisher is not None:
            self._rclpy_event_publisher.publish(event)

    def add_on_set_parameters_callback(self, callback: SetCallback) -> None:
        """Ask a function before values change; it returns a `SetParametersResult`. The newest is asked
        first.
        """
        self._on_set_parameters_callbacks.insert(0, _takes_one(callback))

    def remove_on_set_parameters_callback(self, callback: SetCallback) -> None:
        """Undo `add_on_set_parameters_callback`.

        Raises:
            ValueError: it was not added.
        """
        self._on_set_parameters_callbacks.remove(callback)

    def add_pre_set_parameters_callback(self, callback: Callable[[list[Parameter]], list[Parameter]]) -> None:
        """Let a function change the list of parameters before it is checked."""
        self._pre_set_parameters_callbacks.insert(0, _takes_one(callback))

    def remove_pre_set_parameters_callback(
        self, callback: Callable[[list[Parameter]], list[Parameter]]
    ) -> None:
        """Undo `add_pre_set_parameters_callback`."""
        self._pre_set_parameters_callbacks.remove(callback)

    def add_post_set_parameters_callback(self, callback: Callable[[list[Parameter]], None]) -> None:
        """Tell a function after values changed."""
        self._post_set_parameters_callbacks.insert(0, _takes_one(callback))

    def remove_post_set_parameters_callback(self, callback: Callable[[list[Parameter]], None]) -> None:
        """Undo `add_post_set_parameters_callback`."""
        self._post_set_parameters_callbacks.remove(callback)
