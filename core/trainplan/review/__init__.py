"""The pilot ladder and the readiness review: what was proven, who signed for it, and which edits broke it."""
