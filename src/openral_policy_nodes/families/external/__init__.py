"""Policies that somebody else serves, measured as they are: over WebSocket as openpi, over ZeroMQ as RLDX-1 and GR00T.

A contract, which is an `rskill.yaml` of family `external`, says what their inputs and outputs are called.
"""
