"""Server processes in interpreters of their own, for models whose dependencies are pinned.

The modules that run in the sidecar's interpreter (`server`, `bootstrap` and their imports) depend only on the standard
library, numpy, msgpack and pyzmq, on Python 3.10 and newer. See docs/sidecars.md.
"""
