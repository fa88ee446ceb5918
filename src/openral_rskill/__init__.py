"""Skill packages: manifest, weights, registry, hub, licence and compatibility checks.

Programs begin with `from openral_rskill.loader import rSkill`.
"""
