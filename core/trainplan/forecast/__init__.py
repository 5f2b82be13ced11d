"""The finish and the cost as distributions, from simulated histories of the run."""
