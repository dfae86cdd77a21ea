"""Reports: documents built from what was measured, edited by their authors, frozen as editions, and exports."""
