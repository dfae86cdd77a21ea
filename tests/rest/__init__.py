"""The REST interface as a whole: every operation of the schema, called with what it takes and what it does not."""
