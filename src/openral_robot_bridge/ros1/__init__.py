"""A small client of ROS 1: topics in both directions and reads of parameters, by XML-RPC and TCPROS.

It implements the protocols of https://wiki.ros.org/ROS/Master_API, /Slave_API, /Parameter%20Server%20API and /TCPROS,
without services, actions, UDPROS and simulated time. ROS 1 has no authentication: any host that reaches the network
has full access.
"""
