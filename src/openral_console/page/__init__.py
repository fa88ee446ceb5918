"""The page, made of NiceGUI's elements: one file for each part of it."""
