"""REST: campaigns, experiments, trials, runs and tools."""
