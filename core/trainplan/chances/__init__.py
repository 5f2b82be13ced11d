"""The chance of a deadline and of a budget at once, without a simulation: what findings may ask at every edit."""
