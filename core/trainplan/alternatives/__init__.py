"""What a plan could be instead: changes that fit, answers in reverse, the walk to a layout, and what each costs in time."""
