"""torchtitan's configurations as what they say of a plan."""
