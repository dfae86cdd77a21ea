"""A document as slides for those who decide: in short, one slide a figure, what to change, and the conclusion."""

from apps.reports.files.slides.deck import render

__all__ = ["render"]
