"""REST: the inventory, paths over it, and the whole of it as one file."""
