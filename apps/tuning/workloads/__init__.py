"""Which of a team's file systems serves a workload that somebody describes, and what it will get."""
