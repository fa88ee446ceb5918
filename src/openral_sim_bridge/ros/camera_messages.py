"""The camera_info message that colour and depth images share."""

from __future__ import annotations

import numpy as np
from sensor_msgs.msg import CameraInfo

from openral_sim_bridge.backend import CameraModel
from openral_sim_bridge.coordinate_frames import intrinsics, optical_frame


def camera_info_message(camera: CameraModel, prefix: str) -> CameraInfo:
    """Return the message of a camera without distortion: R is the identity and P is K with a zero column (REP 104).

    Args:
        camera: model of the camera.
        prefix: of the frame ids of the deployment.
    """
    matrix = intrinsics(camera)
    info = CameraInfo(height=camera.height, width=camera.width, distortion_model="plumb_bob", d=[0.0] * 5)
    info.header.frame_id = f"{prefix}{optical_frame(camera.name)}"
    info.k = [float(value) for value in matrix.flatten()]
    info.r = [float(value) for value in np.eye(3).flatten()]
    info.p = [float(value) for value in np.hstack([matrix, np.zeros((3, 1))]).flatten()]
    return info
