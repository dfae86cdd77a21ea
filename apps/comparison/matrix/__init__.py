"""The newest figures between sites, every pair at a glance."""
