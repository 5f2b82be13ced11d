"""Rules of a layout: what has to divide what, and what frameworks have and refuse; for a plan and for columns."""
