"""From action chunks to motion: what is admitted, what the envelope allows, and one action a control step.

Simulated and real arms are moved by this same code. It knows no simulator, and ROS in `ros/` alone.
"""
