"""The exceptions of rclpy; names and bases as in ROS 2."""

from __future__ import annotations

from typing import Any


class NotInitializedException(Exception):
    """The context was not initialised, or is shut down: call `rclpy.init()` first."""

    def __init__(self, message: str | None = None) -> None:
        """Add the usual text in front."""
        more = "" if message is None else f". msg:{message}"
        super().__init__(f"rclpy.init() has not been called{more}")


class NameValidationException(Exception):
    """A topic, node, namespace or parameter name is not valid.

    Attributes:
        name_type, name, error_msg, invalid_index: what was wrong, and where in the name.
    """

    def __init__(self, name_type: str, name: str, error_msg: str, invalid_index: int) -> None:
        """Build the text with a marker below the bad character."""
        super().__init__(f"Invalid {name_type}: {error_msg}:\n  {name!r}\n   {' ' * invalid_index}^")
        self.name_type, self.name = name_type, name
        self.error_msg, self.invalid_index = error_msg, invalid_index


class InvalidNamespaceException(NameValidationException):
    """A namespace is not valid."""

    def __init__(self, name: str, error_msg: str, invalid_index: int) -> None:
        """Keep what the message is made of."""
        super().__init__("namespace", name, error_msg, invalid_index)


class InvalidNodeNameException(NameValidationException):
    """A node name is not valid."""

    def __init__(self, name: str, error_msg: str, invalid_index: int) -> None:
        """Keep what the message is made of."""
        super().__init__("node name", name, error_msg, invalid_index)


class InvalidTopicNameException(NameValidationException):
    """A topic name is not valid."""

    def __init__(self, name: str, error_msg: str, invalid_index: int) -> None:
        """Keep what the message is made of."""
        super().__init__("topic name", name, error_msg, invalid_index)


class InvalidServiceNameException(NameValidationException):
    """A service name is not valid."""

    def __init__(self, name: str, error_msg: str, invalid_index: int) -> None:
        """Keep what the message is made of."""
        super().__init__("service name", name, error_msg, invalid_index)


class InvalidHandle(RuntimeError):
    """The entity was destroyed."""


class NoTypeSupportImportedException(Exception):
    """The given class is no ROS message, service or action."""


class ROSInterruptException(Exception):
    """A wait was ended by shutdown."""


class ParameterException(Exception):
    """Base of the parameter errors; `parameter` is the name, the parameter or a list of them."""

    def __init__(self, error_msg: str, parameters: Any) -> None:
        """Name the parameters in the text."""
        super().__init__(f"{error_msg}: {parameters}")


class ParameterNotDeclaredException(ParameterException):
    """The parameter was not declared."""

    def __init__(self, parameters: Any) -> None:
        """Keep what the message is made of."""
        super().__init__("Invalid access to undeclared parameter(s)", parameters)


class ParameterAlreadyDeclaredException(ParameterException):
    """The parameter was declared before."""

    def __init__(self, parameters: Any) -> None:
        """Keep what the message is made of."""
        super().__init__("Parameter(s) already declared", parameters)


class ParameterUninitializedException(ParameterException):
    """A statically typed parameter was read before it had a value."""

    def __init__(self, parameter_name: Any) -> None:
        """Keep what the message is made of."""
        super().__init__("The parameter is not initialized", parameter_name)


class ParameterImmutableException(ParameterException):
    """The parameter is read-only."""

    def __init__(self, parameter_name: Any) -> None:
        """Keep what the message is made of."""
        super().__init__("Attempted to modify read-only parameter", parameter_name)


class InvalidParameterException(ParameterException):
    """A parameter name is not valid."""

    def __init__(self, parameter_name: Any) -> None:
        """Keep what the message is made of."""
        super().__init__("Invalid parameter name", parameter_name)


class InvalidParameterTypeException(ParameterException):
    """A value has another type than the parameter was declared with."""

    def __init__(self, desired_parameter: Any, expected_type: Any) -> None:
        """Name both types."""
        Exception.__init__(
            self,
            f"Trying to set parameter '{desired_parameter.name}' to '{desired_parameter.value}' of type "
            f"'{desired_parameter.type_.name}', expecting type '{expected_type}'",
        )
        self.param_name = desired_parameter.name


class InvalidParameterValueException(ParameterException):
    """A value was refused by the descriptor or by a callback."""

    def __init__(self, parameter: Any, value: Any, reason: str) -> None:
        """Name the value and the reason."""
        Exception.__init__(
            self, f"Invalid parameter value ({value}) for parameter '{parameter}'. Reason: {reason}"
        )
        self.reason = reason
