"""How much is kept of what a job printed, gave back and was watched by, whichever door it comes in by."""

# Of one output, unpacked, and of all files of a job together, whatever the job's own limit is.
MOST_OUTPUT_BYTES = 64 * 1024 * 1024
MOST_TELEMETRY_BYTES = 8 * 1024 * 1024
MOST_FILES = 100
