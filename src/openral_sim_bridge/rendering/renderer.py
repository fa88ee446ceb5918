"""Offscreen MuJoCo rendering with a named look.

What a frame costs on a CPU is decided by multisampling, shadows, reflections, the number of triangles and the size. A
profile names one setting of them, is written into every result, and is the same for collection, training and
evaluation, since a policy that reads pixels is bound to the look it was trained on.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Literal

import mujoco
import numpy as np
from numpy.typing import NDArray

from openral_core.errors import NotFoundError, SimulationError
from openral_sim_bridge.rendering.decimation import with_light_meshes
from openral_sim_bridge.rendering.opengl import VARIABLE


@dataclass(frozen=True)
class RenderProfile:
    """One look of the renderer."""

    name: str
    samples: int
    """Multisampling of the offscreen buffer."""
    shadows: bool
    reflections: bool
    markers: bool
    """Draw the sites, which hold goal markers that no real camera sees."""
    shadow_map: int = 4096
    """[px] side of the shadow map, of looks with shadows; at 1024 a frame costs a third less and looks the same at
    480 px."""
    max_faces: int | None = None
    """Triangles that a mesh is drawn with; None: all it has."""


LIGHT = 1500
"""Triangles a mesh: MetaWorld's arm has 68 thousand in 13 meshes, a Panda of robosuite 145 thousand in 54. Drawn so, a
frame takes half the time or less and differs from the whole one by 0.5 of 255 on average, mostly at outlines."""
PROFILES = {
    "published": RenderProfile("published", samples=4, shadows=True, reflections=True, markers=True),
    "fast": RenderProfile(
        "fast", samples=0, shadows=False, reflections=False, markers=False, max_faces=LIGHT
    ),
    "fast_goals": RenderProfile(
        "fast_goals", samples=0, shadows=False, reflections=False, markers=True, max_faces=LIGHT
    ),
    "film": RenderProfile("film", samples=4, shadows=True, reflections=False, markers=False, shadow_map=1024),
    "film_goals": RenderProfile(
        "film_goals", samples=4, shadows=True, reflections=False, markers=True, shadow_map=1024
    ),
}
"""`published`: a benchmark's own defaults. `fast`: what policies train and run on. `fast_goals`: where a
task says its goal by a marker alone, as MetaWorld's reach, push and pick-place do. `film`: for videos of a run,
`film_goals` of one in such a look."""


def profile(name: str) -> RenderProfile:
    """Return the profile of that name. Raises NotFoundError, naming those that exist."""
    if name not in PROFILES:
        raise NotFoundError(f"render_profile: there is no '{name}'; use one of {', '.join(PROFILES)}")
    return PROFILES[name]


@dataclass(frozen=True)
class AddedShape:
    """A shape that is drawn into the pictures and is not in the world."""

    kind: Literal["box", "sphere", "cylinder", "capsule", "ellipsoid"]
    """Which shape of MuJoCo's."""
    size: tuple[float, float, float]
    """[m] half sizes, as of a geom of that kind."""
    position: NDArray[np.float64]
    """(3,) [m]"""
    rotation: NDArray[np.float64]
    """(3, 3)"""
    rgba: tuple[float, float, float, float]
    """0 to 1."""


ADDED = 1_000_000
"""`render_geoms` shows the added shape i as this number plus i."""
NEARLY_FAR = 0.999
"""Share of the distance to the far plane from which on a depth means that nothing was drawn there."""


class OffscreenRenderer:
    """Renders any camera of one MjModel at one size. Bound to the thread that made it."""

    def __init__(
        self,
        model: mujoco.MjModel,
        width: int,
        height: int,
        look: RenderProfile,
        *,
        hidden_groups: Sequence[int] = (),
    ) -> None:
        """Make a renderer.

        Args:
            model: the model whose data will be drawn; what is drawn is a copy of it as it is now.
            width: [px]
            height: [px]
            look: the profile.
            hidden_groups: geometry groups that are not drawn, besides those that MuJoCo leaves out.

        Raises:
            SimulationError: no OpenGL context can be made.
        """
        model = with_light_meshes(model, look.max_faces) if look.max_faces else copy.copy(model)
        model.vis.quality.offsamples = look.samples
        model.vis.quality.shadowsize = look.shadow_map if look.shadows else 0
        model.vis.global_.offwidth = max(width, model.vis.global_.offwidth)
        model.vis.global_.offheight = max(height, model.vis.global_.offheight)
        if look.samples == 0:
            model.vis.global_.offwidth, model.vis.global_.offheight = width, height
        try:
            self._renderer = mujoco.Renderer(model, height, width)
        except (RuntimeError, ImportError, AttributeError, mujoco.FatalError) as error:
            raise SimulationError(
                f"no offscreen OpenGL context with MUJOCO_GL={os.environ.get(VARIABLE, '')} ({error}); "
                "`openral doctor` shows what is missing and the line that fixes it"
            ) from error
        self.model = model
        """The copy; where a world's model changes its colours, they must be written here, too."""
        flags = self._renderer.scene.flags
        flags[mujoco.mjtRndFlag.mjRND_SHADOW] = look.shadows
        flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = look.reflections
        self._option = mujoco.MjvOption()
        self._option.geomgroup[list(hidden_groups)] = 0
        self._option.sitegroup[:] = int(look.markers)
        self.added: list[AddedShape] = []
        """Drawn from now on, too."""

    def render(self, data: mujoco.MjData, camera: str) -> NDArray[np.uint8]:
        """Return (H, W, 3) uint8 RGB as MuJoCo draws it."""
        self._update(data, camera)
        image: NDArray[np.uint8] = self._renderer.render()
        return image

    def render_depth(self, data: mujoco.MjData, camera: str) -> NDArray[np.float32]:
        """Return (H, W) float32 [m] along the optical axis; inf where nothing is nearer than the far plane."""
        self._renderer.enable_depth_rendering()
        try:
            self._update(data, camera)
            depth: NDArray[np.float32] = self._renderer.render()
        finally:
            self._renderer.disable_depth_rendering()
        depth[depth >= NEARLY_FAR * self.model.vis.map.zfar * self.model.stat.extent] = np.inf
        return depth

    def render_geoms(self, data: mujoco.MjData, camera: str) -> NDArray[np.int32]:
        """Return (H, W) int32: the number of the geom that each pixel shows; -1 where it shows none."""
        self._renderer.enable_segmentation_rendering()
        try:
            self._update(data, camera)
            numbers: NDArray[np.int32] = self._renderer.render()
        finally:
            self._renderer.disable_segmentation_rendering()
        return np.where(numbers[..., 1] == mujoco.mjtObj.mjOBJ_GEOM, numbers[..., 0], -1)

    def close(self) -> None:
        """Free the OpenGL context."""
        self._renderer.close()

    def _update(self, data: mujoco.MjData, camera: str) -> None:
        self._renderer.update_scene(data, camera=camera, scene_option=self._option)
        scene = self._renderer.scene
        for index, shape in enumerate(self.added):
            geom = scene.geoms[scene.ngeom]
            kind = getattr(mujoco.mjtGeom, f"mjGEOM_{shape.kind.upper()}")
            mujoco.mjv_initGeom(geom, kind, shape.size, shape.position, shape.rotation.flatten(), shape.rgba)
            geom.objtype, geom.objid, geom.segid = mujoco.mjtObj.mjOBJ_GEOM, ADDED + index, scene.ngeom
            scene.ngeom += 1

    def __enter__(self) -> OffscreenRenderer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
