"""Recipes: procedures of the field as campaigns to start from; each file is one, and gives experiments for nodes."""

from apps.campaigns.recipes import rfc6349, storage_clients, udp_load, window_sweep
from apps.campaigns.recipes.base import Recipe, RecipeChoice, Step

RECIPES: dict[str, Recipe] = {
    module.RECIPE.slug: module.RECIPE for module in (rfc6349, udp_load, window_sweep, storage_clients)
}

__all__ = ["RECIPES", "Recipe", "RecipeChoice", "Step"]
