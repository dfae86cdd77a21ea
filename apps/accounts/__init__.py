"""Users, teams, roles and API tokens."""
