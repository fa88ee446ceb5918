"""The common part of LIBERO and robosuite, whose worlds of robosuite's arms run in a process of their own.

`backend` is the client; `world_service` and `world_server_main` are the server.
"""
