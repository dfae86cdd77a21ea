"""Settings of the test run: fast passwords, no lock-out; the servers are real."""

from apps.config.settings.base import *  # noqa: F403
from apps.config.settings.base import DATABASES, INSTALLED_APPS, LOGGING, MIDDLEWARE

SECRET_KEY = "test-only-" + "x" * 40
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
AXES_ENABLED = False
SIGN_IN_FAILURES_PER_ADDRESS = SIGN_IN_FAILURES_PER_NAME = 1_000_000
ALLOWED_HOSTS = ["*"]
# Its `flush` empties the tables between tests in a fiftieth of the time of Django's.
INSTALLED_APPS = [*INSTALLED_APPS, "tests"]
# The first request of each test's client would list every file. Those of the browser are served by the service's own.
MIDDLEWARE = [middleware for middleware in MIDDLEWARE if "static_files" not in middleware]
DATABASES["default"]["TEST"] = {}
# Nothing is written into the folder of a service that may run beside it.
LOGGING["handlers"] |= {name: {"class": "logging.NullHandler"} for name in ("access", "audit")}
