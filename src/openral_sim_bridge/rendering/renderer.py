"""Offscreen MuJoCo rendering with named render profiles.

The cost of a frame on a CPU depends on multisampling, shadows, reflections, the number of triangles and the size. A
profile is one setting of them. It is recorded in every result, and must be the same for collection, training and
evaluation, since a policy depends on the appearance of the images that it was trained on.
"""

from __future__ import annotations

import copy
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal

import mujoco
import numpy as np
from numpy.typing import NDArray

from openral_core.errors import NotFoundError, SimulationError
from openral_sim_bridge.rendering.decimation import with_light_meshes
from openral_sim_bridge.rendering.opengl import VARIABLE
from openral_sim_bridge.rendering.used_contexts import USED


@dataclass(frozen=True)
class RenderProfile:
    """One setting of the renderer."""

    name: str
    samples: int
    """Samples per pixel of the offscreen buffer; 0: no multisampling."""
    shadows: bool
    reflections: bool
    markers: bool
    """Whether sites are drawn, among them goal markers that no real camera sees."""
    shadow_map: int = 4096
    """[px] side of the shadow map, of profiles with shadows; at 1024 a frame costs a third less, and images of 480 px
    look the same."""
    max_faces: int | None = None
    """Largest number of triangles of a mesh; None: meshes are not decimated."""


LIGHT = 1500
"""Triangles per mesh of the fast profiles. MetaWorld's arm has 68 thousand in 13 meshes, a Panda of robosuite 145
thousand in 54. Decimated so, a frame takes half the time or less and differs from the full one by 0.5 of 255 on
average, mostly at outlines."""
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
"""Profiles by name. `published`: the defaults of benchmarks. `fast`: for training and running policies. `fast_goals`:
for tasks whose goal is shown by a marker alone, such as MetaWorld's reach, push and pick-place. `film`: for videos of a
run; `film_goals`: for videos of a run with `fast_goals`."""


def profile(name: str) -> RenderProfile:
    """Return the profile of a name. Raises NotFoundError, which lists the existing ones."""
    if name not in PROFILES:
        raise NotFoundError(f"render_profile: there is no '{name}'; use one of {', '.join(PROFILES)}")
    return PROFILES[name]


@dataclass(frozen=True)
class AddedShape:
    """A shape that is drawn into the images and does not exist in the world."""

    kind: Literal["box", "sphere", "cylinder", "capsule", "ellipsoid"]
    """Type of MuJoCo geom."""
    size: tuple[float, float, float]
    """[m] as `size` of a geom of that type: half sizes, or radius and half length."""
    position: NDArray[np.float64]
    """(3,) [m] in the world frame."""
    rotation: NDArray[np.float64]
    """(3, 3) whose columns are the shape's axes in the world frame."""
    rgba: tuple[float, float, float, float]
    """Each 0 to 1."""


ADDED = 1_000_000
"""`render_geoms` reports the added shape i as this number plus i."""
NEARLY_FAR = 0.999
"""Share of the far plane's distance from which a depth means that nothing was drawn at the pixel."""


class _Renderer(mujoco.Renderer):  # type: ignore[misc]  # MuJoCo has no types
    """A renderer that takes over and leaves OpenGL contexts; see `used_contexts`.

    Its destructor says nothing where its contexts could not be made.
    """

    _context: Any = None
    _mjr_context: Any = None
    _thread = 0

    @property
    def _gl_context(self) -> Any:
        return self._context

    @_gl_context.setter
    def _gl_context(self, made: Any) -> None:
        """Use a context that another renderer has left in place of the one that was made."""
        self._context = USED.exchange(made)
        self._thread = threading.get_ident()

    def close(self) -> None:
        """Leave the context to the next renderer of this thread, or free it."""
        if self._mjr_context and self._context and self._thread == threading.get_ident():
            self._context.make_current()
            self._mjr_context.free()
            self._mjr_context = None
            if USED.leave(self._context):
                self._context = None
        super().close()


class OffscreenRenderer:
    """Renders any camera of one MjModel at one image size. Use it only in the thread that made it."""

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
            model: whose data will be rendered; the renderer uses a copy of it as it is now.
            width: [px]
            height: [px]
            look: the profile.
            hidden_groups: geometry groups that are not drawn, besides those that MuJoCo does not draw by default.

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
            self._renderer = _Renderer(model, height, width)
        except (RuntimeError, ImportError, AttributeError, mujoco.FatalError) as error:
            raise SimulationError(
                f"no offscreen OpenGL context with MUJOCO_GL={os.environ.get(VARIABLE, '')} ({error}); "
                "`openral doctor` shows what is missing and the line that fixes it"
            ) from error
        self.model = model
        """The renderer's copy; a change of colours in a world's model must be repeated in it."""
        flags = self._renderer.scene.flags
        flags[mujoco.mjtRndFlag.mjRND_SHADOW] = look.shadows
        flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = look.reflections
        self._option = mujoco.MjvOption()
        self._option.geomgroup[list(hidden_groups)] = 0
        self._option.sitegroup[:] = int(look.markers)
        self.added: list[AddedShape] = []
        """Shapes that are drawn in addition to the world."""

    def render(self, data: mujoco.MjData, camera: str) -> NDArray[np.uint8]:
        """Return the image (H, W, 3) uint8 RGB of a camera as MuJoCo draws it."""
        self._update(data, camera)
        image: NDArray[np.uint8] = self._renderer.render()
        return image

    def render_depth(self, data: mujoco.MjData, camera: str) -> NDArray[np.float32]:
        """Return depth (H, W) float32 [m] along the optical axis; inf where nothing is nearer than the far plane."""
        self._renderer.enable_depth_rendering()
        try:
            self._update(data, camera)
            depth: NDArray[np.float32] = self._renderer.render()
        finally:
            self._renderer.disable_depth_rendering()
        depth[depth >= NEARLY_FAR * self.model.vis.map.zfar * self.model.stat.extent] = np.inf
        return depth

    def render_geoms(self, data: mujoco.MjData, camera: str) -> NDArray[np.int32]:
        """Return (H, W) int32: the id of the geom that each pixel shows; -1 if it shows none."""
        self._renderer.enable_segmentation_rendering()
        try:
            self._update(data, camera)
            numbers: NDArray[np.int32] = self._renderer.render()
        finally:
            self._renderer.disable_segmentation_rendering()
        return np.where(numbers[..., 1] == mujoco.mjtObj.mjOBJ_GEOM, numbers[..., 0], -1)

    def close(self) -> None:
        """Free what belongs to the model, in the thread that made it; its OpenGL context serves the next renderer."""
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
