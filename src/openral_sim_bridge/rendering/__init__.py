"""Images of MuJoCo worlds: OpenGL, cameras, overlays, MP4."""
