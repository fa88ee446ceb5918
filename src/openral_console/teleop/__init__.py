"""Teleoperation of the arm by an operator, with keys or a SpaceMouse."""
