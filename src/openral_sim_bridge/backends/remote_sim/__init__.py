"""Arms of robosuite in simulators that need a process of their own: what LIBERO and robosuite have in common.

`backend` is our side, `service` and `serving` the other, and what lies between is numbers.
"""
