"""How much is kept of what a job printed, gave back and was watched by, whichever door it comes in by."""

import re

# Of one output, unpacked, and of all files of a job together, whatever the job's own limit is.
MOST_OUTPUT_BYTES = 64 * 1024 * 1024
MOST_TELEMETRY_BYTES = 8 * 1024 * 1024
MOST_FILES = 100

# What a file that a job gave back is called: addresses and downloads have the name.
FILE_NAME = re.compile(r"\A(?!\.{1,2}\Z)[A-Za-z0-9._][A-Za-z0-9._+-]{0,99}\Z")
