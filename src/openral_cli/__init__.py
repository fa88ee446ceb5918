"""The command `openral`; other packages add their verbs by entry points of the group `openral.cli`."""
