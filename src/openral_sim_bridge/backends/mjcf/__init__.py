"""Backend for any MuJoCo scene with an arm; the scene's `backend_options` add what an MJCF file cannot express."""
