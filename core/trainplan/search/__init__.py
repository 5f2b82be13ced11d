"""Every legal layout of a plan's cluster, through the budgets that explain one plan, ranked."""
