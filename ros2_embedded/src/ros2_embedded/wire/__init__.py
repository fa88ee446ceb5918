"""The wire of `rmw_zenoh_cpp`: key expressions, liveliness tokens, QoS text, GIDs and attachments."""
