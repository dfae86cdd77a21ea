"""The OSU micro-benchmarks: what the tools for their latencies and their bandwidths share."""
