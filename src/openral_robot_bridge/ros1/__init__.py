"""A small client of ROS 1: topics in both directions and reads of parameters, by XML-RPC and TCPROS.

It speaks the protocols of https://wiki.ros.org/ROS/Master_API, /Slave_API, /Parameter%20Server%20API and /TCPROS.
Services, actions, UDPROS and simulated time are not spoken. ROS 1 has no passwords: whoever is in its network can do
everything in it.
"""
