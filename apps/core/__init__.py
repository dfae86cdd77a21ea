"""What every app builds on: base model, the door to Celery, page helpers."""
