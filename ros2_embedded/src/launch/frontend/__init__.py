"""Launch files in markup: what every format shares.

A format brings an `Entity` (its view of one element) and a `Parser`, found through the entry points of
group `launch.frontend.parser`. Actions and substitutions join with `expose_action` and `expose_substitution`;
modules that do so outside of `launch` are named by entry points of group `launch.frontend.launch_extension`.
"""

from .errors import InvalidFrontendLaunchFileError
from .expose import expose_action, expose_substitution

from .entity import Entity  # isort: skip
from .parse_substitution import parse_if_substitutions, parse_substitution  # isort: skip
from .parser import Parser  # isort: skip  (actions look for expose.py while parser.py is being loaded)

__all__ = [
    "Entity",
    "InvalidFrontendLaunchFileError",
    "Parser",
    "expose_action",
    "expose_substitution",
    "parse_if_substitutions",
    "parse_substitution",
]
