"""A client of rosbridge, written with roslibpy as one would for a robot: `python page.py PORT`."""

from __future__ import annotations

import sys
import threading

import roslibpy

WAIT_S = 20.0


def main(port: int) -> int:
    """Publish until an echo comes back, and call a service; returns 0 when both answer."""
    ros = roslibpy.Ros(host="127.0.0.1", port=port)
    ros.run(timeout=WAIT_S)
    heard = threading.Event()
    echo = roslibpy.Topic(ros, "/echo", "std_msgs/msg/Int16MultiArray")
    echo.subscribe(lambda message: heard.set() if list(message["data"]) == [1, 2] else None)
    voice = roslibpy.Topic(ros, "/voice", "std_msgs/msg/Int16MultiArray")
    voice.advertise()
    for _ in range(100):
        voice.publish(roslibpy.Message({"data": [1, 2]}))
        if heard.wait(0.1):
            break
    service = roslibpy.Service(ros, "/switch", "std_srvs/srv/SetBool")
    answer = service.call(roslibpy.ServiceRequest({"data": True}), timeout=WAIT_S)
    sys.stdout.write(f"heard {heard.is_set()}, answer {answer['message']}\n")
    ros.terminate()
    return 0 if heard.is_set() and answer["success"] else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
