"""A skill as a package: manifest, weights, registry, hub, licence, checks.

Programs begin with `from openral_rskill.loader import rSkill`.
"""
