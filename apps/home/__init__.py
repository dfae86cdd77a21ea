"""The first page: what needs somebody, what runs and why it waits, what was found, and what comes next."""
