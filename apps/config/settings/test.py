"""Settings of the test run: fast passwords, no lock-out; the servers are real."""

import os

from apps.config.settings.base import *  # noqa: F403
from apps.config.settings.base import DATABASES

SECRET_KEY = "test-only-" + "x" * 40
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
AXES_ENABLED = False
ALLOWED_HOSTS = ["*"]
# The client of each test makes the middleware anew, which would look at every static file; those of the service do.
SERVESTATIC_USE_FINDERS = SERVESTATIC_USE_STATIC_ROOT = False
# Set by the test run's own PostgreSQL: a database that is migrated already.
DATABASES["default"]["TEST"] = {"TEMPLATE": os.environ.get("FATHOM_TEST_TEMPLATE")}
