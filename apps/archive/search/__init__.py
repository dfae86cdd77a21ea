"""Everything measured, found again: by words, by what it was measured with and between, by values and figures."""
