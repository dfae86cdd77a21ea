"""Composition root: settings, URLs and the ASGI application."""

from workers.celery import app as celery_app

# Imported with the settings, so that every process that sends a task has this Celery application as its own.
__all__ = ["celery_app"]
