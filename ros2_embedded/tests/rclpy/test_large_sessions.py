"""A process with more endpoints than fit into a link's short default queue is seen by all who come later.

Who needs only some servers of a large graph takes in no more of it than these.
"""

from __future__ import annotations

import subprocess
import sys

from std_msgs.msg import String
from std_srvs.srv import Trigger

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile

NODES, TOPICS = 10, 200
MANY = f"""
import sys
import rclpy
from std_msgs.msg import Empty
rclpy.init()
nodes = [rclpy.create_node(f"large{{n}}", start_parameter_services=False) for n in range({NODES})]
kept = [node.create_subscription(Empty, f"~/t{{n}}", print, 1) for node in nodes for n in range({TOPICS})]
print("ready", flush=True)
sys.stdin.read()
"""


def test_newcomers_see_every_endpoint_of_a_large_process() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", MANY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as large:
        assert large.stdout.readline() == "ready\n"
        for newcomer in range(2):
            with rclpy.init(context=(context := rclpy.Context())):
                node = rclpy.create_node(f"newcomer{newcomer}", context=context)
                executor = SingleThreadedExecutor(context=context)
                executor.add_node(node)
                found: list[str] = []
                for _ in range(100):
                    executor.spin_once(timeout_sec=0.1)
                    found = [
                        name for name, _ in node.get_topic_names_and_types() if name.startswith("/large")
                    ]
                    if len(found) == NODES * TOPICS:
                        break
                node.destroy_node()
            assert len(found) == NODES * TOPICS, f"newcomer {newcomer}"
        large.stdin.close()


STOPPABLE = """
import rclpy
from std_msgs.msg import String
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_srvs.srv import Empty, Trigger

def stop(request, response):
    response.success, response.message = True, "stopped"
    return response

rclpy.init()
node = rclpy.create_node("bridge", namespace="/r1")
node.create_service(Trigger, "estop", stop)
node.create_service(Trigger, "estop_reset", stop)
node.create_service(Empty, "other/estop", print)
latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
state = node.create_publisher(String, "state", latched)
state.publish(String(data="moves"))
print("ready", flush=True)
rclpy.spin(node)
"""


def test_who_needs_only_some_servers_takes_in_no_more_of_the_graph() -> None:
    with subprocess.Popen([sys.executable, "-c", STOPPABLE], stdout=subprocess.PIPE, text=True) as stoppable:
        assert stoppable.stdout.readline() == "ready\n"
        context = rclpy.Context()
        context.servers_only = ("/estop", "std_srvs/srv/Trigger")
        with rclpy.init(context=context):
            node = rclpy.create_node("newcomer", context=context)
            executor = SingleThreadedExecutor(context=context)
            executor.add_node(node)
            client = node.create_client(Trigger, "/r1/estop")
            heard: list[str] = []
            latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
            node.create_subscription(String, "/r1/state", lambda said: heard.append(said.data), latched)
            assert client.wait_for_service(30.0)
            future = client.call_async(Trigger.Request())
            for _ in range(300):
                if future.done() and heard:
                    break
                executor.spin_once(timeout_sec=0.1)
            assert (future.result().message, heard) == ("stopped", ["moves"])
            own = f"/{node.get_name()}/"
            others = [
                (name, kinds)
                for name, kinds in node.get_service_names_and_types()
                if not name.startswith(own)
            ]
            assert others == [("/r1/estop", ["std_srvs/srv/Trigger"])]
            assert node.get_node_names() == ["newcomer"]
            node.destroy_node()
        stoppable.terminate()
