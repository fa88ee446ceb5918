"""The `openral` command."""
