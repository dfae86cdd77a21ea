"""The tools of a team: those that come with the service, and those that it defines itself."""
