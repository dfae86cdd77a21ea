"""Where programs usually lie on a node."""

from __future__ import annotations

# Where they are when the agent's own PATH is a short one (systemd, cron).
USUAL_FOLDERS = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
