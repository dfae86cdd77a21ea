"""Settings of the test run: fast passwords, no lock-out; the servers are real."""

from apps.config.settings.base import *  # noqa: F403

SECRET_KEY = "test-only-" + "x" * 40
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
AXES_ENABLED = False
ALLOWED_HOSTS = ["*"]
