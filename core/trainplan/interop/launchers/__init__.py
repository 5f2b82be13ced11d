"""Files that launch a run, read as a plan: scripts, argument listings and configurations, each format in its own module."""
