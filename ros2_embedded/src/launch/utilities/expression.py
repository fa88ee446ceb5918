"""Evaluation of the small expressions that launch files hold.

Launch arguments reach expressions as text, so an expression is not trusted: its syntax tree may hold only
operators, literals, comparisons, comprehensions, calls, and names from a fixed list. Attributes that start
with an underscore, those of generators and frames, and what formats by attributes, are refused, and with them
every known way out of `eval`.
"""

from __future__ import annotations

import ast
import importlib
import re
import types
from collections.abc import Mapping, Sequence
from typing import Any

ALLOWED_MODULES = ("math", "os.path", "datetime", "random", "statistics", "string", "sys")
"""Modules that an expression may name; of `sys` only what tells about the interpreter."""

_BUILTIN_FUNCTIONS: tuple[Any, ...] = (
    *(abs, all, any, bool, dict, divmod, enumerate, float, int, len, list, max, min, range, repr),
    *(round, set, sorted, str, sum, tuple, zip),
)
_BUILTINS = {function.__name__: function for function in _BUILTIN_FUNCTIONS}
_INSIDE = (
    *(types.AsyncGeneratorType, types.CodeType, types.CoroutineType, types.FrameType, types.GeneratorType),
    types.TracebackType,
)
_REFUSED_ATTRIBUTES = {
    *("format", "format_map", "Formatter"),  # they reach attributes that the tree does not show
    # From a generator the way leads by its frame to the one that evaluates, and to all modules.
    *(name for kind in _INSIDE for name in dir(kind) if re.match("(ag|co|cr|f|gi|tb)_", name)),
}
_SYS_NAMES = ("byteorder", "getrefcount", "getsizeof", "maxsize", "platform", "version_info")
_REFUSED_NODES = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Lambda)


class ExpressionError(ValueError):
    """The expression is not allowed or failed; the text says why."""


def evaluate(
    expression: str, modules: Sequence[str] = ("math",), values: Mapping[str, Any] | None = None
) -> Any:
    """Return the value of `expression`.

    Args:
        expression: one Python expression.
        modules: names from `ALLOWED_MODULES`, '' for none; the functions of `math` may also be used without
            its name, as in ROS 2.
        values: what else the expression may use, by name.

    Raises:
        ExpressionError: for a syntax error, a refused construct or module, or an error while evaluating.
    """
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except SyntaxError as error:
        raise ExpressionError(f"invalid syntax: {error.msg}") from error
    _check(tree)
    names: dict[str, Any] = {"__builtins__": {}, **_BUILTINS}
    for module in modules:
        names.update(_module_names(module))
    names.update(values or {})
    try:
        return eval(compile(tree, "<launch expression>", "eval"), names)
    except Exception as error:  # whatever an expression raises is an error of the expression
        raise ExpressionError(f"{type(error).__name__}: {error}") from error


def _check(tree: ast.AST) -> None:
    for node in ast.walk(tree):
        if isinstance(node, _REFUSED_NODES):
            raise ExpressionError(f"{type(node).__name__} is not allowed in a launch expression")
        if isinstance(node, ast.Attribute) and (
            node.attr.startswith("_") or node.attr in _REFUSED_ATTRIBUTES
        ):
            raise ExpressionError(f"attribute '{node.attr}' is not allowed in a launch expression")
        if isinstance(node, ast.Name) and node.id.startswith("__"):
            raise ExpressionError(f"name '{node.id}' is not allowed in a launch expression")


def _module_names(module: str) -> dict[str, Any]:
    if not module:
        return {}
    if module not in ALLOWED_MODULES:
        raise ExpressionError(f"module '{module}' is not allowed; use one of {', '.join(ALLOWED_MODULES)}")
    loaded = importlib.import_module(module)
    root = module.split(".")[0]
    if module == "os.path":
        # Only os.path: the module os itself starts processes.
        return {root: _Namespace(path=_Namespace(**_public(loaded)))}
    if module == "sys":
        return {root: _Namespace(**{name: getattr(loaded, name) for name in _SYS_NAMES})}
    names: dict[str, Any] = {root: _Namespace(**_public(loaded))}
    return {**_public(loaded), **names} if module == "math" else names


def _public(module: Any) -> dict[str, Any]:
    """Return a module's public functions, classes and constants, without the modules it imported itself."""
    return {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_") and not hasattr(value, "__spec__")
    }


class _Namespace:
    """Attribute access to a fixed set of names."""

    def __init__(self, **names: Any) -> None:
        self.__dict__.update(names)
