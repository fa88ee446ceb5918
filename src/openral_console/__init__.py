"""The operator's page: shows a deployment in a browser, with an emergency stop that is always in view.

`live/` holds the state of a deployment, `page/` shows it, `ros/` has the nodes, and `access` controls who may use it.
"""
