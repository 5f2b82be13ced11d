"""A shell script as the command that trains and what it is passed. Nothing is run."""
