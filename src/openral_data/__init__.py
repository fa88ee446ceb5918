"""Episodes on disk, in the layout of LeRobot datasets v3."""
