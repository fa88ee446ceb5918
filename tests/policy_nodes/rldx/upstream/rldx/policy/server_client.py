"""The constructor, the socket and the loop of upstream's PolicyServer."""

import zmq

from openral_sidecar.wires import rldx as rldx_wire


class PolicyServer:
    def __init__(self, policy, host="*", port=5555, api_token=None):
        self.policy, self.api_token, self.running = policy, api_token, True
        self.context = zmq.Context()
        self.socket = self.context.socket(zmq.REP)
        self.socket.bind(f"tcp://{host}:{port}")

    def run(self):
        while self.running:
            request = rldx_wire.decode(self.socket.recv())
            if self.api_token is not None and request.get("api_token") != self.api_token:
                reply = {"error": "Unauthorized: Invalid API token"}
            else:
                reply = getattr(self, f"_{request['endpoint']}")(**request.get("data", {}))
            self.socket.send(rldx_wire.encode(reply))
        self.context.destroy(linger=1000)

    def _ping(self):
        return {"status": "ok", "message": "Server is running"}

    def _kill(self):
        self.running = False

    def _get_modality_config(self):
        return self.policy.get_modality_config()

    def _get_action(self, observation, options):
        return self.policy.get_action(observation, options)

    def _reset(self, options):
        return self.policy.reset(options)
