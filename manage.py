#!/usr/bin/env python3
"""Django's command line."""

import gc
import os
import sys

import django
from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

from launch import home

if __name__ == "__main__":
    # What only reads a file needs none of the secrets of a deployment.
    settings = "base" if sys.argv[1:2] == ["read_output"] else "production"
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", f"apps.config.settings.{settings}")
    if os.environ["DJANGO_SETTINGS_MODULE"].endswith(".production"):
        os.environ |= home.environment_of_running()
    # All that is loaded stays: to look through it while it comes takes a quarter of the start.
    gc.disable()
    try:
        django.setup()
        gc.freeze()
        gc.enable()
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"fathom: {error}{home.why_unknown()}")
