"""Results side by side: comparisons, histories, the matrix between sites, and figures drawn as files."""
