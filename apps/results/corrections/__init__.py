"""Results read again by a mended parser: a result never changes, a new edition takes its place with a reason."""
