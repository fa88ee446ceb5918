"""Decimation of meshes for rendering, whose cost on a CPU grows with the number of triangles.

Only a copy of the model is changed, and only the arrays that OpenGL reads, so physics is not affected. A decimated mesh
keeps the frame of the original one; each of its corners takes normal and texture coordinate from the nearest original
corner.
"""

from __future__ import annotations

import copy
import hashlib
import zipfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import fast_simplification
import mujoco
import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from openral_core.files.atomic import replaced_file
from openral_core.files.cache import cache_home

WELD = 1e-5
"""Size of the grid cells in which vertices are merged, relative to the mesh's largest extent.

Files repeat a vertex for each of its normals."""
AGGRESSIVENESS = 3.0
"""Of the edge collapse (quadrics of Garland and Heckbert); the library's default of 7 distorts round links."""
INWARD = 0.1
"""Share of the distance from a corner to its triangle's centroid by which corners are moved before they are compared.

It distinguishes corners at the same point that belong to different sides of an edge."""
_RECIPE = f"1 {WELD} {AGGRESSIVENESS} {INWARD} {version('fast-simplification')}"


@dataclass(frozen=True)
class LightMesh:
    """A decimated mesh."""

    vertices: NDArray[np.float32]
    """(v, 3) [m]"""
    faces: NDArray[np.int32]
    """(f, 3) indices of vertices."""
    corners: NDArray[np.int32]
    """(f, 3) index of the original corner, 3 * face + (0 to 2), that gives normal and texture coordinate."""


def with_light_meshes(model: mujoco.MjModel, max_faces: int) -> mujoco.MjModel:
    """Return a copy of a model for rendering, whose meshes have about `max_faces` triangles or fewer.

    It is for an OpenGL context and for `mjv_updateScene` with the data of the original; do not step it. Decimated
    meshes are cached in `<cache>/meshes`.
    """
    light_model = copy.copy(model)
    for mesh in np.flatnonzero(model.mesh_facenum > max_faces):
        vertex, face = model.mesh_vertadr[mesh], model.mesh_faceadr[mesh]
        old_vertices = slice(vertex, vertex + model.mesh_vertnum[mesh])
        old_faces = slice(face, face + model.mesh_facenum[mesh])
        light = _decimated(model.mesh_vert[old_vertices], model.mesh_face[old_faces], max_faces)
        faces = slice(face, face + len(light.faces))
        light_model.mesh_vert[vertex : vertex + len(light.vertices)] = light.vertices
        light_model.mesh_face[faces] = light.faces
        for name in ("mesh_facenormal", "mesh_facetexcoord"):
            old = getattr(model, name)[old_faces].reshape(-1)
            getattr(light_model, name)[faces] = old[light.corners]
        light_model.mesh_vertnum[mesh] = len(light.vertices)
        light_model.mesh_facenum[mesh] = len(light.faces)
        light_model.mesh_graphadr[
            mesh
        ] = -1  # the convex hull, which is not drawn, refers to removed vertices
    return light_model


def decimate(vertices: NDArray[np.float32], faces: NDArray[np.int32], max_faces: int) -> LightMesh:
    """Collapse edges of a mesh until about `max_faces` triangles are left.

    Args:
        vertices: (V, 3) [m]
        faces: (F, 3) indices of vertices.
        max_faces: of the result; if it cannot be reached, more remain, but never more than F.
    """
    cell = WELD * float(np.ptp(vertices, axis=0).max())
    _, first, merged = np.unique(np.round(vertices / cell), axis=0, return_index=True, return_inverse=True)
    welded = _proper(merged.reshape(-1)[faces])
    points, triangles = fast_simplification.simplify(
        np.ascontiguousarray(vertices[first], dtype=np.float32),
        np.ascontiguousarray(welded, dtype=np.int32),
        target_count=max_faces,
        agg=AGGRESSIVENESS,
    )
    triangles = _proper(triangles)
    _, corners = cKDTree(_pulled_in(vertices, faces)).query(_pulled_in(points, triangles))
    return LightMesh(
        points.astype(np.float32), triangles.astype(np.int32), corners.astype(np.int32).reshape(-1, 3)
    )


def _decimated(vertices: NDArray[np.float32], faces: NDArray[np.int32], max_faces: int) -> LightMesh:
    """Decimate a mesh, or read the result from the cache, whose file name is a digest of all inputs."""
    digest = hashlib.sha256(f"{_RECIPE} {max_faces} {len(vertices)}".encode())
    digest.update(vertices.tobytes())
    digest.update(faces.tobytes())
    path = cache_home() / "meshes" / f"{digest.hexdigest()[:32]}.npz"
    try:
        with np.load(path, allow_pickle=False) as stored:
            return LightMesh(stored["vertices"], stored["faces"], stored["corners"])
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):  # absent, or damaged
        light = decimate(vertices, faces, max_faces)
    _store(path, light)
    return light


def _store(path: Path, light: LightMesh) -> None:
    """Write to the cache atomically, since other processes read it; a failure to write is ignored."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replaced_file(path) as partial, partial.open("wb") as file:
            np.savez(file, vertices=light.vertices, faces=light.faces, corners=light.corners)
    except OSError:
        return


def _proper(faces: NDArray[Any]) -> NDArray[Any]:
    """Return the triangles (f, 3) with three different vertices."""
    a, b, c = faces.T
    kept: NDArray[Any] = faces[(a != b) & (b != c) & (a != c)]
    return kept


def _pulled_in(vertices: NDArray[np.float32], faces: NDArray[np.int32]) -> NDArray[np.float32]:
    """Return (3 f, 3) [m]: every corner of every triangle, moved by `INWARD` towards the triangle's centroid."""
    corners = vertices[faces]
    moved: NDArray[np.float32] = corners + INWARD * (corners.mean(axis=1, keepdims=True) - corners)
    return moved.reshape(-1, 3)
