"""MetaWorld v3: the Sawyer arm over a table, fifty tasks."""

from openral_sim_bridge.rendering.bundled_glfw import name_bundled_glfw

name_bundled_glfw()  # before the first `import metaworld` of this package
