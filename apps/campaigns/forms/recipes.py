"""The form of a recipe: who plays its parts, where it writes, and what it asks."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.accounts.models import Team
from apps.campaigns.forms import fields
from apps.campaigns.recipes import Recipe
from apps.core.errors import by_field
from apps.core.forms import StyledWidgets
from apps.core.messages import render
from apps.testbeds.models import FileSystem


class RecipeForm(StyledWidgets, forms.Form):
    """Nodes and values of a recipe."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=200)

    def __init__(self, *args: Any, recipe: Recipe, team: Team, **kwargs: Any) -> None:
        self.recipe = recipe
        self.team = team
        super().__init__(*args, **kwargs)
        form_fields: dict[str, forms.Field] = {
            f"part_{part.name}": fields.players_field(render(part.label), team) for part in recipe.parts
        }
        if recipe.needs_file_system:
            form_fields["file_system"] = forms.ModelChoiceField(
                FileSystem.objects.filter(team=team),
                label=_("File system"),
                help_text=_("The nodes must mount it; a run keeps it to itself."),
            )
        form_fields |= {f"value_{parameter.name}": fields.field_of(parameter) for parameter in recipe.parameters}
        self.add_fields(form_fields)

    @property
    def part_fields(self) -> Iterable[forms.BoundField]:
        """Return the fields of who takes part, and where they write."""
        return [self[name] for name in self.fields if name.startswith("part_") or name == "file_system"]

    @property
    def value_fields(self) -> Iterable[forms.BoundField]:
        """Return the fields of what is asked."""
        return [self[name] for name in self.fields if name.startswith("value_")]

    def values(self) -> dict[str, Any]:
        """Return what `services.create_from_recipe` takes, less the team, the user and the time."""
        data = self.cleaned_data
        return {
            "recipe": self.recipe.slug,
            "name": data["name"],
            "players": [
                player
                for part in self.recipe.parts
                for player in fields.players_of(part.name, data[f"part_{part.name}"], self.team)
            ],
            "values": {item.name: fields.text_of(data[f"value_{item.name}"]) for item in self.recipe.parameters},
            "file_system": data.get("file_system"),
        }

    def add_refusal(self, error: forms.ValidationError) -> None:
        """Show each refusal at the field that it concerns; those of experiments name them."""
        for name, wrong in by_field(error).items():
            part, _dot, rest = name.partition(".")
            field = {"parts": f"part_{rest}", "values": f"value_{rest}"}.get(part, part)
            if field in self.fields:
                self.add_error(field, wrong)
            else:
                self.add_error(None, [f"{name}: {text}" for item in wrong for text in item.messages])
