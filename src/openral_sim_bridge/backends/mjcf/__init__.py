"""Any MuJoCo scene with an arm in it: what its file does not say stands in the scene's `backend_options`."""
