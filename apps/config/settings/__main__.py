"""Says what is wrong with the settings of the environment: python -m apps.config.settings."""

import sys

from django.core.exceptions import ImproperlyConfigured

try:
    from apps.config.settings import production
except ImproperlyConfigured as error:
    sys.exit(str(error))

__all__ = ["production"]
