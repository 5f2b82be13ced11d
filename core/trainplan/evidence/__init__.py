"""What speaks for a number from outside the plan: published runs, those nearest to it, and dry runs of frameworks."""
