"""The small detector: a closed set of labels and colours, at some milliseconds an image on one CPU core."""
