"""MetaWorld v3: fifty tasks of a Sawyer arm at a table."""

from openral_sim_bridge.rendering.bundled_glfw import name_bundled_glfw

name_bundled_glfw()  # before the first `import metaworld` of this package
