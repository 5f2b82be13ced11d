"""Megatron's arguments, from scripts, logs and test configurations, as what they say of a plan."""
