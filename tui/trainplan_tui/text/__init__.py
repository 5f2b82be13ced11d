"""Text as data: what a cell may hold, which glyphs and colours exist, and how a row is laid out.

Everything here is pure and imports no terminal library, so that `show` and `--plain` use it without an app.
It refuses to know plans, figures or widgets.
"""
