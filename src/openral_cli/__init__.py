"""The command `openral`, `openral deploy` and `openral demo`.

Other packages add their verbs by entry points of the group `openral.cli`.
"""
