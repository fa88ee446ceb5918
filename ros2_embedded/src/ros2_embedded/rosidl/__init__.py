"""ROS interface definitions at run time: parser, registry, type hashes, CDR code, and Python classes."""
