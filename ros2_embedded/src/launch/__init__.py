"""Start, watch and stop systems of processes that are described in launch files.

The names, arguments and meanings are those of the ROS 2 package ``launch``, so launch files run unchanged.
What differs is below the surface: `launch.processes` owns everything a launch started, grandchildren
included, and leaves nothing
behind.
"""

from . import (
    actions,
    conditions,
    descriptions,
    event_handlers,
    events,
    frontend,
    launch_description_sources,
    logging,
    substitutions,
)
from .action import Action
from .condition import Condition
from .event import Event
from .event_handler import EventHandler
from .invalid_launch_file_error import InvalidLaunchFileError
from .launch_context import LaunchContext
from .launch_description import LaunchDescription
from .launch_description_entity import LaunchDescriptionEntity
from .launch_description_source import LaunchDescriptionSource
from .launch_introspector import LaunchIntrospector
from .launch_service import LaunchService
from .some_actions_type import SomeActionsType
from .some_entities_type import SomeEntitiesType, SomeEntitiesType_types_tuple
from .some_substitutions_type import SomeSubstitutionsType, SomeSubstitutionsType_types_tuple
from .substitution import Substitution

__all__ = [
    "Action",
    "Condition",
    "Event",
    "EventHandler",
    "InvalidLaunchFileError",
    "LaunchContext",
    "LaunchDescription",
    "LaunchDescriptionEntity",
    "LaunchDescriptionSource",
    "LaunchIntrospector",
    "LaunchService",
    "SomeActionsType",
    "SomeEntitiesType",
    "SomeEntitiesType_types_tuple",
    "SomeSubstitutionsType",
    "SomeSubstitutionsType_types_tuple",
    "Substitution",
    "actions",
    "conditions",
    "descriptions",
    "event_handlers",
    "events",
    "frontend",
    "launch_description_sources",
    "logging",
    "substitutions",
]
