"""Whether conclusions were drawn from a campaign's results, which rules failed, and asking again."""
