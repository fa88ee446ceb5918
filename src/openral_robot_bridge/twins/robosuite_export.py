"""Exports robosuite's world with a Franka Research 3 in place of its Panda, as the scene of a twin.

Room, objects, cameras, shapes and initial states are robosuite's. The arm's dynamics are not, as robosuite gives its
joints an unrealistic armature of up to 5 kg m²: links get the inertia, and joints the armature, the damping and the
position controller of the FR3 in `scenes/mjcf/tabletop_fr3`. The geometry of the two arms agrees within 0.5 mm.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np

from openral_core.errors import ManifestError
from openral_core.files.share import share_directory
from openral_core.scene import DeployScene
from openral_robot_bridge.twins.fci.wire import CYCLE_S
from openral_sim_bridge.backends.mjcf.options import read_options
from openral_sim_bridge.backends.robosuite.backend import open_robosuite

FR3 = Path("scenes/mjcf/tabletop_fr3/fr3.xml")
ROOT, FLANGE, GRIPPER = "robot0_base", "robot0_right_hand", "gripper0_right_right_gripper"
NAMES = {
    **{f"robot0_link{number}": f"fr3_link{number}" for number in range(8)},
    **{f"robot0_joint{number}": f"fr3_joint{number}" for number in range(1, 8)},
    FLANGE: "fr3_hand",
    GRIPPER: "fr3_gripper_body",
    "gripper0_right_leftfinger": "fr3_leftfinger",
    "gripper0_right_rightfinger": "fr3_rightfinger",
    "gripper0_right_finger_joint1": "fr3_finger_joint1",
    "gripper0_right_finger_joint2": "fr3_finger_joint2",
}
"""robosuite's name of a body or joint -> its name in robots/fr3."""
HAND_POINT = "0 0 0.097"
"""[m] in the hand's frame: the point between the fingertips whose pose robosuite observes."""


def write_world(scene: DeployScene, folder: Path, first: int, count: int) -> Path:
    """Write model, states, meshes and textures into a folder, with a copy of the scene's file; return the copy's path.

    Args:
        scene: of family mjcf, whose first task is one of robosuite.
        folder: new or empty.
        first: number of the first initial state, which is robosuite's seed.
        count: number of initial states.

    Raises:
        ManifestError: the scene is not of robosuite's world, or its model would not lie in the folder.
        OpenralError: robosuite's sidecar was not built, or does not answer.
    """
    options, document = read_options(scene)
    source, task = scene.source, options.tasks[0]
    if source is None or options.keyframes is None:
        fix = "take scenes/robot/fr3_robosuite_lift.yaml, or a scene like it"
        raise ManifestError(document.fault(("keyframes",), "is missing in a scene of robosuite's world", fix))
    if Path(options.model).name != options.model or options.model == "..":
        what = "is no name of a file beside the scene"
        raise ManifestError(document.fault(("model",), what, "write one such as scene.xml"))
    worlds = open_robosuite([task], representation=scene.action.representation)
    try:
        root = ET.fromstring(worlds.model_xml())
        states = {}
        for init_id in range(first, first + count):
            worlds.reset([task], [init_id])
            states[f"{options.keyframes}{init_id}"] = worlds.snapshot().qpos
    finally:
        worlds.close()
    folder.mkdir(parents=True, exist_ok=True)
    _take_files(root, folder / "assets")
    _become_fr3(root, ET.parse(share_directory() / FR3).getroot())
    _add_states(root, states)
    ET.indent(root)
    (folder / options.model).write_text(ET.tostring(root, encoding="unicode"), encoding="utf-8")
    copy = folder / source.path.name
    copy.write_text(_beginning_at(source.path.read_text(encoding="utf-8"), first), encoding="utf-8")
    return copy


def _beginning_at(text: str, first: int) -> str:
    """Return a scene's text with another first initial state, which the text need not have; comments stay."""
    with_it, lines = re.subn(r"(?m)^(\s+init_id:[ \t]*)\d+", rf"\g<1>{first}", text)
    if lines:
        return with_it
    return re.sub(r"(?m)^([ \t]+)keyframes:", rf"\g<1>init_id: {first}\n\g<0>", text, count=1)


def _take_files(root: ET.Element, folder: Path) -> None:
    """Copy the files that the model reads, with names that are unique across their folders."""
    folder.mkdir(exist_ok=True)
    compiler = _child(root, "compiler")
    compiler.attrib.pop("texturedir", None)
    compiler.set("meshdir", folder.name)
    compiler.set("texturedir", folder.name)
    for element in root.iter():
        if "file" in element.attrib:
            path = Path(element.attrib["file"])
            name = f"{path.parent.name}_{path.name}"
            shutil.copyfile(path, folder / name)
            element.set("file", name)


def _become_fr3(root: ET.Element, fr3: ET.Element) -> None:
    """Give the arm the names, inertias, joints and position controllers of the FR3."""
    theirs = {body.get("name"): body for body in fr3.iter("body")}
    joints = {joint.get("name"): joint for joint in fr3.iter("joint") if joint.get("name")}
    _child(root, "compiler").set("balanceinertia", "true")
    _child(root, "option").set("timestep", f"{CYCLE_S:g}")
    _child(root, "option").set("integrator", "implicitfast")
    base = next(body for body in root.iter("body") if body.get("name") == ROOT)
    for body in list(base.iter("body")):
        body.set("gravcomp", "1")  # the arm's own controller compensates gravity
        name = NAMES.get(str(body.get("name")))
        if name is None:
            continue
        body.set("name", name)
        own, inertial = theirs[name], body.find("inertial")
        if (real := own.find("inertial")) is not None and "finger" not in name:
            if inertial is not None:
                body.remove(inertial)
            body.insert(0, real)
        elif name == NAMES[GRIPPER] and inertial is not None:  # it is part of the hand's inertia
            inertial.set("mass", "0.001")
            inertial.set("diaginertia", "1e-6 1e-6 1e-6")
        if name == NAMES[FLANGE]:
            ET.SubElement(body, "site", name="fr3_hand_tcp", pos=HAND_POINT, size="0.001", rgba="0 0 0 0")
    for joint in base.iter("joint"):
        name = NAMES[str(joint.get("name"))]
        joint.set("name", name)
        if "finger" not in name:
            joint.attrib.update({"armature": "0.1", "damping": "1", "frictionloss": "0"})
            joint.set("range", joints[name].attrib["range"])
    actuators = _child(root, "actuator")
    for actuator in list(actuators):
        name = NAMES[str(actuator.get("joint"))]
        actuator.set("joint", name)
        if "finger" not in name:
            actuators.remove(actuator)
    for drive in fr3.iter("position"):
        if "finger" not in str(drive.get("joint")):
            actuators.append(drive)


def _add_states(root: ET.Element, states: dict[str, np.ndarray]) -> None:
    keyframes = ET.SubElement(root, "keyframe")
    for name, qpos in states.items():
        ET.SubElement(keyframes, "key", name=name, qpos=" ".join(f"{number:.17g}" for number in qpos))


def _child(root: ET.Element, name: str) -> ET.Element:
    found = root.find(name)
    return found if found is not None else ET.SubElement(root, name)
