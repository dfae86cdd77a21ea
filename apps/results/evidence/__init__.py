"""What was measured between whom, as rules read it: lanes, their points, and the way that data went."""
