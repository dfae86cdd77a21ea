"""Django's backend for PostgreSQL, whose sessions are waited for only so long (apps.core.sessions)."""
