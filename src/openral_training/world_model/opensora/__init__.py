"""World models in the layout that RLinf publishes: an OpenSora video transformer conditioned on actions."""
