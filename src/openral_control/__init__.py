"""Control of an arm by action chunks: admission, the safety envelope, and one action for each control step.

The same code moves simulated and real arms. It depends on no simulator, and on ROS in `ros/` only.
"""
