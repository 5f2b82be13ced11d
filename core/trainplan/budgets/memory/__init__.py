"""What one rank holds, part by part, at each instant of a step, and which rank and instant are the worst."""
