"""Policies that other programs serve: over WebSocket with openpi's protocol, or over ZeroMQ with that of RLDX-1, GR00T.

The names of their inputs and outputs are given by a contract, which is an `rskill.yaml` of family `external`.
"""
