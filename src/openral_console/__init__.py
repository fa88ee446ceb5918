"""The operator's page: what a deployment does, in a browser, and a stop that is always in reach.

`live/` is what is known of a deployment, `page/` shows it, `ros/` listens and speaks; `access` decides who may look.
"""
