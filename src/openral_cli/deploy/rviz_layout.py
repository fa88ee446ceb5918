"""Layouts of RViz for a scene: its cameras, its robot, planned path and markers, with the topics of a deployment.

The classes and keys are those of rviz_common and rviz_default_plugins as of Jazzy.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from openral_core.graph.namespaces import DEFAULT_NAMESPACE, frame_prefix, remappings
from openral_core.scene import DeployScene

SHIPPED = {"simulation": "metaworld_drawer", "fr3": "fr3_tabletop", "sawyer": "sawyer_tabletop"}
"""Layouts that ship in config/rviz, and the scene that each is made for."""
_DISTANCE_OF_BOX = 2.4
"""Distance of the view from the middle of the workspace, in halves of its diagonal; 0.5 m are added."""


def rviz_layout(scene: DeployScene, namespace: str = DEFAULT_NAMESPACE) -> str:
    """Return the text of an .rviz file.

    Args:
        scene: names the cameras and the workspace.
        namespace: of the deployment; frames and topics are its own.
    """
    world = f"{frame_prefix(namespace)}world"
    layout = {
        "Panels": [{"Class": f"rviz_common/{name}", "Name": name} for name in ("Displays", "Views", "Time")],
        "Visualization Manager": {
            "Class": "",
            "Global Options": {"Background Color": "38; 42; 48", "Fixed Frame": world, "Frame Rate": 30},
            "Displays": [*_displays(namespace), *_cameras(scene, namespace)],
            "Tools": [
                {"Class": f"rviz_default_plugins/{name}"}
                for name in ("MoveCamera", "Select", "FocusCamera", "Measure")
            ],
            "Views": {"Current": _view(scene, world)},
        },
        "Window Geometry": {"Width": 1400, "Height": 900, "Displays": {"collapsed": False}},
    }
    return yaml.dump(layout, Dumper=_Plain, sort_keys=False)


def _displays(namespace: str) -> list[dict[str, Any]]:
    """Return the displays that every deployment has: floor, robot, frames, end effector, planned path and markers."""
    description = dict(remappings(namespace)).get("/robot_description", "/robot_description")
    return [
        {
            "Class": "rviz_default_plugins/Grid",
            "Name": "Floor",
            "Enabled": True,
            "Cell Size": 0.25,
            "Plane Cell Count": 12,
            "Color": "90; 96; 104",
            "Alpha": 0.5,
        },
        {
            "Class": "rviz_default_plugins/RobotModel",
            "Name": "Robot",
            "Enabled": True,
            "Description Source": "Topic",
            "Description Topic": _topic(description, latched=True),
            "TF Prefix": frame_prefix(namespace).rstrip("/"),
            "Visual Enabled": True,
            "Collision Enabled": False,
        },
        {
            "Class": "rviz_default_plugins/TF",
            "Name": "Frames",
            "Enabled": False,
            "Marker Scale": 0.2,
            "Show Names": True,
        },
        {
            "Class": "rviz_default_plugins/Pose",
            "Name": "End effector",
            "Enabled": True,
            "Shape": "Axes",
            "Axes Length": 0.08,
            "Axes Radius": 0.006,
            "Topic": _topic(f"{namespace}/ee_pose"),
        },
        {
            "Class": "rviz_default_plugins/Path",
            "Name": "Planned path",
            "Enabled": True,
            "Line Style": "Billboards",
            "Line Width": 0.006,
            "Color": "255; 170; 0",
            "Alpha": 1,
            "Buffer Length": 1,
            "Topic": _topic(f"{namespace}/planned_path", latched=True),
        },
        {
            "Class": "rviz_default_plugins/MarkerArray",
            "Name": "Workspace and words",
            "Enabled": True,
            "Namespaces": {"workspace": True, "words": True},
            "Topic": _topic(f"{namespace}/markers", latched=True),
        },
    ]


def _cameras(scene: DeployScene, namespace: str) -> Iterator[dict[str, Any]]:
    """Yield two displays for each camera: its image behind the scene (enabled for the first only), and in a window."""
    for number, camera in enumerate(scene.cameras):
        image = _topic(f"{namespace}/cameras/{camera.name}/image_raw", reliable=False)
        yield {
            "Class": "rviz_default_plugins/Camera",
            "Name": f"Camera {camera.name}",
            "Enabled": number == 0,
            "Far Plane Distance": 100,
            "Image Rendering": "background and overlay",
            "Overlay Alpha": 0.4,
            "Topic": image,
        }
        yield {
            "Class": "rviz_default_plugins/Image",
            "Name": f"Image {camera.name}",
            "Enabled": True,
            "Normalize Range": False,
            "Topic": image,
        }


class _Plain(yaml.SafeDumper):
    """Dumper without YAML aliases, which RViz's reader does not support."""

    def ignore_aliases(self, data: Any) -> bool:
        """Return True: nothing is written as an alias."""
        return True


def _topic(name: str, *, reliable: bool = True, latched: bool = False) -> dict[str, Any]:
    return {
        "Value": name,
        "Durability Policy": "Transient Local" if latched else "Volatile",
        "Reliability Policy": "Reliable" if reliable else "Best Effort",
        "History Policy": "Keep Last",
        "Depth": 1,
    }


def _view(scene: DeployScene, world: str) -> dict[str, Any]:
    """Return the view: from the front, at the middle of the workspace, or of a cube of 1 m if the scene has none."""
    low, high = (scene.workspace.low, scene.workspace.high) if scene.workspace else ((-0.5,) * 3, (0.5,) * 3)
    middle = [0.5 * (one + other) for one, other in zip(low, high, strict=True)]
    diagonal = sum((other - one) ** 2 for one, other in zip(low, high, strict=True)) ** 0.5
    return {
        "Class": "rviz_default_plugins/Orbit",
        "Name": "Over the table",
        "Target Frame": world,
        "Distance": round(_DISTANCE_OF_BOX * 0.5 * diagonal + 0.5, 2),
        "Pitch": 0.45,
        "Yaw": 5.2,
        "Focal Point": dict(zip("XYZ", (round(value, 3) for value in middle), strict=True)),
    }
