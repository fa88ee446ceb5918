"""Three servers of the same policy that does nothing, one a wire, and one that only sends as many bytes.

`sidecar_servers.py openral|rldx|websocket|bare`: each takes two images and a state and answers a chunk of 16×7 float32.
It prints its port, or the path of its Unix socket, and serves until it is killed.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import sys
import tempfile
from typing import Any

import msgpack
import numpy as np

CHUNK = np.zeros((16, 7), np.float32)


def serve_openral() -> None:
    from openral_sidecar.identity import Identity
    from openral_sidecar.server import serve, server_arguments, server_options

    parser = argparse.ArgumentParser()
    server_arguments(parser)
    serve({"infer": lambda data: {"action": CHUNK}}, Identity("no-op"), server_options(parser.parse_args([])))


def serve_bare() -> None:
    """ZeroMQ and nothing else, on a Unix socket: what comes in is not read, what goes out is as long as a chunk."""
    import zmq

    socket = zmq.Context.instance().socket(zmq.REP)
    path = f"{tempfile.mkdtemp()}/bare.sock"
    socket.bind(f"ipc://{path}")
    print(path, flush=True)
    while True:
        socket.recv(copy=False)
        socket.send(CHUNK.data)


def save_array(value: Any) -> Any:
    """Arrays as upstream's client and server write them (`MsgSerializer` of RLDX-1 and GR00T)."""
    file = io.BytesIO()
    np.save(file, value, allow_pickle=False)
    return {"__ndarray_class__": True, "as_npy": file.getvalue()}


def load_array(found: dict[str, Any]) -> Any:
    return np.load(io.BytesIO(found["as_npy"]), allow_pickle=False) if "__ndarray_class__" in found else found


def serve_rldx() -> None:
    """As upstream's server: one REP socket, one thread."""
    import zmq

    socket = zmq.Context.instance().socket(zmq.REP)
    print(socket.bind_to_random_port("tcp://127.0.0.1"), flush=True)
    while True:
        request = msgpack.unpackb(socket.recv(), object_hook=load_array)
        assert request["data"]["observation"]["state.all"].shape == (1, 1, 8)
        socket.send(msgpack.packb([{"action.all": CHUNK[None]}, {}], default=save_array))


def pack_array(value: Any) -> Any:
    """Arrays as openpi's client and server write them (openpi-client's msgpack_numpy)."""
    if isinstance(value, np.ndarray):
        return {
            b"__ndarray__": True,
            b"data": value.tobytes(),
            b"dtype": value.dtype.str,
            b"shape": value.shape,
        }
    raise TypeError(type(value))


def unpack_array(found: dict[Any, Any]) -> Any:
    if b"__ndarray__" in found:
        return np.ndarray(buffer=found[b"data"], dtype=np.dtype(found[b"dtype"]), shape=found[b"shape"])
    return found


def serve_websocket() -> None:
    """As openpi's server: metadata first, then one message each way; no compression, no limit of size."""
    from websockets.asyncio.server import ServerConnection, serve

    async def handle(connection: ServerConnection) -> None:
        await connection.send(msgpack.packb({}))
        async for frame in connection:
            observation = msgpack.unpackb(frame, object_hook=unpack_array)
            assert observation["state"].shape == (8,)
            await connection.send(msgpack.packb({"actions": CHUNK}, default=pack_array))

    async def main() -> None:
        async with serve(handle, "127.0.0.1", 0, compression=None, max_size=None) as server:
            print(server.sockets[0].getsockname()[1], flush=True)
            await asyncio.get_running_loop().create_future()

    asyncio.run(main())


if __name__ == "__main__":
    {
        "openral": serve_openral,
        "rldx": serve_rldx,
        "websocket": serve_websocket,
        "bare": serve_bare,
    }[sys.argv[1]]()
