"""Everything that draws and listens, knowing nothing of plans.

`line`, `frame` and `bars` are pure and import no terminal library; `grid`, `dispatch` and `driver` are the only
places that touch Textual. They refuse plans, figures and findings: what they draw is lines of spans.
"""
