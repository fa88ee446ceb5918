"""Sidecars: a server process in an interpreter of its own, for a model whose dependencies cannot live with ours.

What runs inside the sidecar's interpreter (`server`, `bootstrap` and what they import) needs nothing but the
standard library, numpy, msgpack and pyzmq, on Python 3.10 and newer. See docs/sidecars.md.
"""
