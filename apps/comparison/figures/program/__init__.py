"""The program that draws figures: JSON in, PNG or SVG out; the only place where matplotlib is imported."""
