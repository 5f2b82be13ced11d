"""Whole screens composed of rows: what stands where at every size of the window."""
