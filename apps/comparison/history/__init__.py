"""A metric over repeated campaigns: its levels, where they changed, and what people say of the changes."""
