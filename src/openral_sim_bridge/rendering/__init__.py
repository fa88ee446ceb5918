"""Rendering of MuJoCo worlds: OpenGL contexts, images, video panels and MP4 files."""
