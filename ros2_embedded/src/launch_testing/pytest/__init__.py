"""The plug-in of pytest."""
