"""Where a permanent id leads to: what was measured, how to cite it, and how to measure it again."""
