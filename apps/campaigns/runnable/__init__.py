"""A campaign as a file that measures the same again, on the same nodes or on others."""

from apps.campaigns.runnable.reader import read_recipe
from apps.campaigns.runnable.writer import as_yaml, names_in, recipe_of

__all__ = ["as_yaml", "names_in", "read_recipe", "recipe_of"]
