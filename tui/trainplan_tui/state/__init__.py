"""What the app knows: the plan under edit with its history, what lies beside it, and what is kept of it between sessions."""
