"""Conditions that gate actions."""

from .evaluate_condition_expression import evaluate_condition_expression
from .if_condition import IfCondition
from .invalid_condition_expression_error import InvalidConditionExpressionError
from .launch_configuration_equals import LaunchConfigurationEquals
from .launch_configuration_not_equals import LaunchConfigurationNotEquals
from .unless_condition import UnlessCondition

__all__ = [
    "IfCondition",
    "InvalidConditionExpressionError",
    "LaunchConfigurationEquals",
    "LaunchConfigurationNotEquals",
    "UnlessCondition",
    "evaluate_condition_expression",
]
