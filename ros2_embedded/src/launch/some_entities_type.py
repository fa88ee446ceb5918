"""Types that an argument taking launch description entities accepts."""

from __future__ import annotations

from collections.abc import Iterable

from .launch_description_entity import LaunchDescriptionEntity

SomeEntitiesType = LaunchDescriptionEntity | Iterable[LaunchDescriptionEntity]
"""One entity or several."""
SomeEntitiesType_types_tuple = (LaunchDescriptionEntity, Iterable)
"""The same for `isinstance`."""
