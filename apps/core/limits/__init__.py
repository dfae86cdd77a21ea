"""Who asks how often: counters that all processes share, and the policies that rest on them."""
