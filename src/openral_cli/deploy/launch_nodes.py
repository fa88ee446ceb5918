"""The nodes of a deployment as its launch files start them, apart from the bridge, which moves the arm."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from launch.actions import DeclareLaunchArgument, LogInfo, Shutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from openral_cli.deploy.run_metadata import keep_record
from openral_cli.deploy.rviz_layout import rviz_layout
from openral_core.errors import OpenralError
from openral_core.files.user_path import user_path
from openral_core.graph.namespaces import DEFAULT_NAMESPACE, policy_namespace, read_namespace, remappings
from openral_core.guarded_callbacks import EXIT_UNFIT
from openral_core.process.announcements import GOES_ON_WITHOUT, MISSION_ENDED, STARTED_AGAIN
from openral_core.ros.bridge_conflict import ANOTHER, is_taken
from openral_core.scene import DeployScene, load_scene
from openral_reasoner.memory.notes_file import default_memory_file
from openral_rskill.registry import resolve
from openral_sidecar.settings import SidecarSettings

Values = dict[str, str]
"""Values of a launch file's arguments, by name."""
Common = dict[str, Any]
"""Parameters that several nodes share."""
Entities = list[Any]
ASK_PATIENCE_S = 60.0
"""[s] that the operator has for the answer to a question of the reasoner."""
COMEBACK_PATIENCE_S = 30.0
"""[s] that a task waits for its restarted policy node to begin loading: Python's imports on a busy machine."""
MISSPELT = 0.8
"""Least ratio of difflib (0..1) of an unknown argument and a known one for it to count as misspelt. `errors.nearest`
has a lower limit, and would take `use_rviz`, an argument of a launch file that includes this one, for `rviz`."""
RESTARTS = 3
"""Most restarts of a node after failures."""
LOADING_S = SidecarSettings().boot_timeout_s
"""[s] that a skill may take to load. One that cannot be loaded ends the launch by itself."""
FORGIVEN_S = LOADING_S + 600.0
"""[s] from a node's start, loading included, after which its earlier restarts count no longer.

So one that breaks down while it loads does not begin for ever; the launch cannot see when a node has loaded."""
SIGTERM_AFTER_S = "12"
"""[s] that a node has to end after SIGINT: more than launch's default of 5, which a busy machine may exceed, and less
than the 15 that `openral deploy sim` gives the launch."""


def _switch(name: str, default: str, description: str) -> DeclareLaunchArgument:
    return DeclareLaunchArgument(
        name, default_value=default, choices=["true", "false"], description=description
    )


SHARED_ARGUMENTS = [
    DeclareLaunchArgument(
        "namespace",
        default_value=DEFAULT_NAMESPACE,
        description="of all names of the deployment; each robot of a domain has its own",
    ),
    DeclareLaunchArgument("mission", default_value="", description="the sentence; empty: the scene's own"),
    DeclareLaunchArgument(
        "device", default_value="cpu", description="where skills and reward model infer: cpu, cuda"
    ),
    _switch("allow_unevaluated", "false", "run skills in a scene they were not evaluated in"),
    DeclareLaunchArgument("run_dir", default_value="", description="folder for the record; empty: none"),
    DeclareLaunchArgument(
        "memory_file",
        default_value=str(default_memory_file()),
        description="notes of a language model, see `openral memory`; empty: it keeps none",
    ),
    _switch("enable_reward_monitor", "true", "without it no task can be verified"),
    _switch("exit_when_done", "true", "end the launch with the mission"),
    _switch("rviz", "false", "open RViz, where it is installed"),
    _switch(
        "markers",
        "false",
        "publish what is planned and said as markers, for RViz and Foxglove; rviz does it, too",
    ),
    _switch("console", "false", "the operator's page in a browser; its address is printed"),
    DeclareLaunchArgument(
        "console_port",
        default_value="",
        description="of the page; 0: a free one; none given: 8420, or a free one where that is taken",
    ),
    _switch("space_mouse", "false", "the console lets a SpaceMouse of its machine move the arm by hand, too"),
    DeclareLaunchArgument(
        "record",
        default_value="none",
        choices=["none", "always", "episodes", "highlight", "interventions"],
        description="what is recorded, as a LeRobot v3 dataset and MCAP",
    ),
    DeclareLaunchArgument(
        "record_dir", default_value="", description="of the recording; empty: recording in run_dir"
    ),
    DeclareLaunchArgument("log_level", default_value="info", description="debug, info, warn, error or fatal"),
]
"""Arguments of every launch file of a deployment, except the scene."""


def deployment(
    context: Any, arguments: list[Any], bridge: Callable[[Values, Common], Any], *, use_sim_time: bool
) -> Entities:
    """Return the nodes that a scene needs.

    Args:
        context: of the launch.
        arguments: of the launch file.
        bridge: returns the node that moves the arm.
        use_sim_time: whether the nodes follow `/clock`, which a simulated world publishes and a real arm does not.

    Raises:
        RuntimeError: an argument or the scene is invalid, or the namespace has a deployment already.
    """
    values = {argument.name: LaunchConfiguration(argument.name).perform(context) for argument in arguments}
    _check_names(context.launch_configurations, values)
    values["namespace"] = _namespace(values["namespace"])
    if is_taken(values["namespace"]):  # its nodes would receive the new reasoner's goals
        raise RuntimeError(f"namespace:={values['namespace']}: {ANOTHER}")
    if values["run_dir"]:  # nodes name files of it by URIs, which have no relative form
        values["run_dir"] = str(user_path(values["run_dir"]).absolute())
    try:
        scene = load_scene(values["scene"])
        common = {"scene": text(values["scene"]), "run_dir": text(values["run_dir"])}
        timed = {**common, "use_sim_time": use_sim_time}
        keep_record(values["run_dir"], scene, values)
        nodes = [bridge(values, common), *(policy(skill, values, timed) for skill in scene.skills)]
        if not use_sim_time and scene.arm is not None and scene.arm.cameras:
            nodes.append(cameras(values, common))
        if scene.motions:
            nodes.append(motions(values, timed))
        if any(camera.depth for camera in scene.cameras):
            nodes.append(locator(values, timed))
    except OpenralError as error:
        raise RuntimeError(f"scene:={values['scene']}: {error}") from None
    watched = values["enable_reward_monitor"] == "true" and bool(scene.reward_skill)
    if watched:
        nodes.append(monitor(str(scene.reward_skill), values, timed))
    nodes.append(reasoner(values["mission"] or scene.mission or "", watched, values, timed))
    if values["record"] != "none":
        nodes.append(recorder(values, common))
    if values["console"] == "true":
        nodes.append(console(values, common))
    if "true" in (values["markers"], values["rviz"]):
        nodes.append(markers(values, common))
    if values["rviz"] == "true":
        nodes.append(rviz(scene, values))
    return nodes


def policy(skill: str, values: Values, common: Common, left: int = RESTARTS) -> Any:
    """Return the policy node of one skill. While it is down the arm holds, and the reasoner decides what follows."""
    parameters = {
        **hosted(skill, values, common),
        "lockstep": values.get("mode") == "lockstep",
    }
    who = f"the policy node of {skill}"
    on_exit = again(who, partial(policy, skill, values, common), left, without(who))
    space = policy_namespace(values["namespace"])
    return node("policy_node", values, parameters, on_exit, name=resolve(skill).slug, namespace=space)


def motions(values: Values, common: Common, left: int = RESTARTS) -> Any:
    """Return the node with all analytic motions of the scene."""
    parameters = {**common, "lockstep": values.get("mode") == "lockstep"}
    who = "the node of the motions"
    on_exit = again(who, partial(motions, values, common), left, without(who))
    return node("motion_node", values, parameters, on_exit)


def cameras(values: Values, common: Common, left: int = RESTARTS) -> Any:
    """Return the bridge of the scene's real cameras. Without it goals of skills that need images end as stale."""
    who = "the camera bridge"
    on_exit = again(who, partial(cameras, values, common), left, without(who))
    return node("camera_bridge", values, dict(common), on_exit)


def locator(values: Values, common: Common, left: int = RESTARTS) -> Any:
    """Return the locator, which no other node waits for."""
    parameters = {
        **hosted("", values, common),
        "sim_positions": values.get("sim_positions") == "true",
    }
    who = "the locator"
    on_exit = again(who, partial(locator, values, common), left, without(who))
    return node("locator", values, parameters, on_exit)


def console(values: Values, common: Common, left: int = RESTARTS) -> Any:
    """Return the node of the operator's page, which no other node waits for."""
    parameters = {**common, "space_mouse": values["space_mouse"] == "true"}
    if values["console_port"]:
        parameters["port"] = int(number(values, "console_port", 0, 65535))
    who = "the console"
    return node(
        "console", values, parameters, again(who, partial(console, values, common), left, without(who))
    )


def markers(values: Values, common: Common, left: int = RESTARTS) -> Any:
    """Return the node that publishes markers for viewers, which no other node waits for."""
    who = "the node of the markers"
    on_exit = again(who, partial(markers, values, common), left, without(who))
    return node("markers", values, dict(common), on_exit)


def rviz(scene: DeployScene, values: Values) -> Any:
    """Return RViz with a layout of the scene, which is written into the run's folder or a temporary one."""
    folder = values["run_dir"] or tempfile.mkdtemp(prefix="openral-rviz-")
    layout = Path(folder) / "view.rviz"
    layout.parent.mkdir(parents=True, exist_ok=True)
    layout.write_text(rviz_layout(scene, values["namespace"]))
    return Node(package="rviz2", executable="rviz2", arguments=["-d", str(layout)])


def recorder(values: Values, common: Common, left: int = RESTARTS) -> Any:
    """Return the recorder, which no other node waits for.

    Raises:
        RuntimeError: a package that it needs is not installed.
    """
    missing = [name for name in ("av", "pyarrow") if find_spec(name) is None]
    if missing:
        what = f"{missing[0]} is not installed: pip install 'openral[train]'"
        raise RuntimeError(f"record:={values['record']}: {what}")
    parameters = {**common, "strategy": values["record"], "folder": text(values["record_dir"])}
    who = "the recorder"
    return node(
        "recorder", values, parameters, again(who, partial(recorder, values, common), left, without(who))
    )


def monitor(skill: str, values: Values, common: Common, left: int = RESTARTS) -> Any:
    """Return the reward monitor. It is advisory: while it is down, tasks can only end unverified."""
    parameters = hosted(skill, values, common)
    who = "the reward monitor"
    on_exit = again(who, partial(monitor, skill, values, common), left, without(who))
    return node("reward_monitor", values, parameters, on_exit)


def hosted(skill: str, values: Values, common: Common) -> dict[str, Any]:
    """Return the parameters of a node that hosts a skill."""
    return {
        **common,
        "skill": text(skill),
        "device": text(values["device"]),
        "allow_unevaluated": values["allow_unevaluated"] == "true",
    }


def reasoner(mission: str, watched: bool, values: Values, common: Common, left: int = RESTARTS) -> Any:
    """Return the reasoner; the launch ends when it ends. After a failure it is restarted and resumes its mission."""
    exit_when_done = values["exit_when_done"] == "true"
    parameters = {
        **common,
        "mission": text(mission),
        "exit_when_done": exit_when_done,
        "await_monitor": watched,
        "memory_file": text(values["memory_file"]),
        # Only a deployment that is kept running is assumed to have an operator who can answer.
        "director.ask_patience_s": 0.0 if exit_when_done else ASK_PATIENCE_S,
        "director.palette_patience_s": LOADING_S,
        "director.comeback_patience_s": COMEBACK_PATIENCE_S,
    }
    most = RESTARTS if values["run_dir"] else 0  # without a record it cannot resume its mission
    start = partial(reasoner, mission, watched, values, common)
    failed = Shutdown(reason="the reasoner failed, see its last lines")
    done = Shutdown(reason=MISSION_ENDED)
    return node(
        "reasoner", values, parameters, again("the reasoner", start, min(left, most), failed, done, most)
    )


def node(
    executable: str,
    values: Values,
    parameters: dict[str, Any],
    on_exit: Any,
    name: str | None = None,
    namespace: str | None = None,
) -> Any:
    """Return the launch action of one of openral's nodes, which configures and activates itself.

    Args:
        executable: of the package openral.
        values: arguments of the launch file.
        parameters: of the node.
        on_exit: launch actions, or a function that returns them, for when it ends.
        name: of the node; None: it keeps its own.
        namespace: of the node; None: that of the deployment.
    """
    return Node(
        package="openral",
        executable=executable,
        name=name,
        namespace=namespace or values["namespace"],
        remappings=remappings(values["namespace"]),
        parameters=[parameters],
        ros_arguments=["--log-level", values["log_level"]],
        additional_env={"OMP_NUM_THREADS": "1"},
        output="both",
        sigterm_timeout=SIGTERM_AFTER_S,
        on_exit=on_exit,
    )


def _check_names(given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse an argument that seems a misspelt one; others may be of a launch file that includes this one."""
    for name in set(given) - set(known):
        if meant := get_close_matches(name, known, 1, MISSPELT):
            raise RuntimeError(f"{name}:= is no argument; did you mean {meant[0]}:=?")


def _namespace(given: str) -> str:
    try:
        return read_namespace(given)
    except OpenralError as error:
        raise RuntimeError(f"namespace:={given}: {error}") from None


def text(value: str) -> Any:
    """Return a parameter value that stays a string even if it looks like a number."""
    return ParameterValue(value, value_type=str)


def number(values: Values, name: str, least: float, most: float) -> float:
    """Return the value of an argument as a number. Raises RuntimeError: it is none within these bounds."""
    try:
        value = float(values[name])
    except ValueError:
        value = math.nan
    if not least <= value <= most:  # what is no number is within no bounds
        raise RuntimeError(f"{name}:={values[name]}: give a number from {least:g} to {most:g}")
    return value


def again(
    who: str, start: Callable[[int], Any], left: int, lost: Any, done: Any = None, most: int = RESTARTS
) -> Callable[..., Any]:
    """Return the reaction to the end of a node: after a failure or a signal it is started again, at most `left` times.

    One that ran for `FORGIVEN_S` has all its restarts again. A node that exits with EXIT_UNFIT is not started again,
    and ends the launch if that was its first start.

    Args:
        who: name of the node for the log.
        start: returns the node; called with the number of restarts that are then left.
        left: number of restarts.
        lost: launch action after a failure if no restart is left.
        done: launch action if the node exits with 0; None: there is none.
        most: number of restarts of a node that has run for long.
    """
    began_s = time.monotonic()

    def react(event: Any, context: Any) -> Any:
        if context.is_shutdown:
            return None
        if event.returncode == 0:
            return done
        if event.returncode == EXIT_UNFIT:
            # One that ran before, such as a console whose port another program has now, ends no mission.
            return Shutdown(reason=f"{who} failed, see its last lines") if left == most else lost
        remain = (most if time.monotonic() - began_s > FORGIVEN_S else left) - 1
        if remain < 0:
            return lost
        how = f"ended with {event.returncode}"
        return [LogInfo(msg=f"{who} {how}; {STARTED_AGAIN}, {remain} times more at most"), start(remain)]

    return react


def without(who: str) -> Any:
    """Return the launch action that logs that the deployment continues without a node."""
    return LogInfo(msg=f"{who} does not come back; {GOES_ON_WITHOUT}")
