"""The wiring: which formula feeds which, written once for a plan and for columns of layouts."""
