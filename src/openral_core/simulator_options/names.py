"""Names that simulators have for their tasks and looks, as far as a scene may be judged by them.

They are compared with those of the simulators by a test: reading a scene imports none of them.
"""

from __future__ import annotations

from typing import Literal, get_args

Look = Literal["published", "fast", "fast_goals", "film", "film_goals"]
LOOKS: tuple[str, ...] = get_args(Look)
"""Names of the ways in which a simulator's pictures are drawn."""
LAST_INIT_ID = 999_999
"""The last initial state of a simulator that draws its states from their numbers."""
ROBOSUITE_TASKS = ("Lift", "Stack", "PickPlaceCan", "Door", "NutAssembly")
_METAWORLD = """
assembly basketball bin-picking box-close button-press-topdown button-press-topdown-wall button-press
button-press-wall coffee-button coffee-pull coffee-push dial-turn disassemble door-close door-lock door-open
door-unlock drawer-close drawer-open faucet-close faucet-open hammer hand-insert handle-press-side handle-press
handle-pull-side handle-pull lever-pull peg-insert-side peg-unplug-side pick-out-of-hole pick-place
pick-place-wall plate-slide-back-side plate-slide-back plate-slide-side plate-slide push-back push push-wall
reach reach-wall shelf-place soccer stick-pull stick-push sweep-into sweep window-close window-open
"""
METAWORLD_TASKS = tuple(f"{name}-v3" for name in _METAWORLD.split())
