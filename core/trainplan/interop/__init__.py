"""Other programs' files as plans and plans as theirs, each format in its own module; none of them runs foreign code."""
