"""The door: rows take plan fields and figures and nothing else; which rows a pane has, and what they are called."""
