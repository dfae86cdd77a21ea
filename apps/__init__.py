"""Fathom's Django apps and the science beneath them."""
