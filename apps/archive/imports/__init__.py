"""Take in what was measured elsewhere, in raw outputs and in tables: seen first, then all of it or nothing."""
