"""The Intel MPI Benchmarks: their names and their tables."""
