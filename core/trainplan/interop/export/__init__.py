"""A plan as text for a real launcher. Nothing is submitted, and what the plan does not say is left out and named."""
