"""Tags of templates that show what was measured."""
