"""The report of a plan: Markdown to attach to a review, and its quantities as CSV. Pure: what it tells is handed in."""
