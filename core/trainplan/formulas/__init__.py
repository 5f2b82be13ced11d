"""Published formulas, one function each, on plain numbers or columns; their docstrings are their cards."""
