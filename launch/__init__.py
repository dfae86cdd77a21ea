"""Set-up and running: embedded servers, the supervisor, and the demo."""
