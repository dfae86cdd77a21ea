"""A campaign as one file, with all that its figures rest on, and the same campaign made of that file elsewhere."""
