"""What sentences of a report claim: told of the report's tables, and asked of the same tables again."""
