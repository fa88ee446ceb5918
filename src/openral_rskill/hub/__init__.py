"""Installation of skills and weights from a hub, and conversion and creation of skill folders."""
