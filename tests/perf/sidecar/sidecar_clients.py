"""The client of one wire in a process of its own: `sidecar_clients.py openral|rldx|websocket|bare ADDRESS SIDE`.

For each line on standard input it makes as many calls as the line says and prints how long each took [ms], as JSON. A
call sends two images of SIDE² and a state of 8, and brings back a chunk of 16×7 float32.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

import msgpack
import numpy as np
from sidecar_servers import load_array, pack_array, save_array, unpack_array

PATIENCE_S = 60.0
Infer = Callable[[], np.ndarray]


def openral(address: str, images: np.ndarray, state: np.ndarray) -> Infer:
    from openral_sidecar.client import SidecarClient

    client = SidecarClient(address)
    data = {"front": images[0], "wrist": images[1], "state": state, "prompt": "open the drawer"}
    return lambda: client.call("infer", data, timeout_s=PATIENCE_S)["action"]


def rldx(address: str, images: np.ndarray, state: np.ndarray) -> Infer:
    """As upstream's client: a REQ socket and `MsgSerializer`."""
    import zmq

    socket = zmq.Context.instance().socket(zmq.REQ)
    socket.connect(address)
    nested = {
        "video.front": images[:1, None],
        "video.wrist": images[1:, None],
        "state.all": state[None, None],
    }
    request = {"endpoint": "get_action", "data": {"observation": {**nested, "task": ["open the drawer"]}}}

    def infer() -> np.ndarray:
        socket.send(msgpack.packb(request, default=save_array))
        return msgpack.unpackb(socket.recv(), object_hook=load_array)[0]["action.all"][0]

    return infer


def websocket(address: str, images: np.ndarray, state: np.ndarray) -> Infer:
    """As openpi's client: the synchronous client of `websockets`, without compression."""
    from websockets.sync.client import connect

    socket = connect(address, compression=None, max_size=None)
    socket.recv()
    data = {"front": images[0], "wrist": images[1], "state": state, "prompt": "open the drawer"}

    def infer() -> np.ndarray:
        socket.send(msgpack.packb(data, default=pack_array))
        return msgpack.unpackb(socket.recv(), object_hook=unpack_array)["actions"]

    return infer


def bare(address: str, images: np.ndarray, state: np.ndarray) -> Infer:
    """ZeroMQ alone: as many bytes, which nobody packs or reads."""
    import zmq

    socket = zmq.Context.instance().socket(zmq.REQ)
    socket.connect(address)
    request = images.tobytes()

    def infer() -> np.ndarray:
        socket.send(request, copy=False)
        return np.frombuffer(socket.recv(), np.float32).reshape(16, 7)

    return infer


def main() -> None:
    wire, address, side = sys.argv[1:]
    images = np.random.default_rng(0).integers(0, 255, (2, int(side), int(side), 3), np.uint8)
    infer = {"openral": openral, "rldx": rldx, "websocket": websocket, "bare": bare}[wire](
        address, images, np.linspace(0, 1, 8, dtype=np.float32)
    )
    for line in sys.stdin:
        times = []
        for _ in range(int(line)):
            began = time.perf_counter()
            chunk = infer()
            times.append((time.perf_counter() - began) * 1e3)
            assert chunk.shape == (16, 7)
        print(json.dumps(times), flush=True)


if __name__ == "__main__":
    main()
