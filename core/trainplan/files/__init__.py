"""Files that this project writes: plans, saved wholly or not at all, and the journal of what was not saved."""
