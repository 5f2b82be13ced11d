"""Other programs' files as plans and plans as theirs: each format in a module of its own, none of them runs foreign code."""
