"""The forms of incoming archives: which file into which team, and what its nodes stand for."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import User
from apps.accounts.team_imports import IntoTeamForm
from apps.archive.incoming.models import IncomingArchive
from apps.core.forms import StyledWidgets
from apps.testbeds.models import Node


class SendArchiveForm(IntoTeamForm):
    """An archive and the team that takes it."""

    archive = forms.FileField(
        label=_("Archive file"),
        help_text=_("The zip that “Archive of the campaign” gave elsewhere."),
        error_messages={
            "required": _("Choose the archive to send."),
            "empty": _("The file is empty: export it again."),
        },
    )


class ChoicesForm(StyledWidgets, forms.Form):
    """A node of the team for each node of an archive, and for administrators whether it has the ids that it says."""

    def __init__(self, *args: Any, incoming: IncomingArchive, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        here = list(Node.objects.filter(team=incoming.team).order_by("name").values_list("name", flat=True))
        self._nodes = incoming.preview["nodes"]
        # What was chosen before, where that could not be stored.
        nodes = incoming.choices.get("nodes", {})
        fields: dict[str, forms.Field] = {}
        for place, name in enumerate(self._nodes):
            as_it_is = (
                _("%(node)s, as it is here") if name in here else _("%(node)s, to be described from the archive")
            )
            others = [(other, other) for other in here if other != name]
            fields[f"node-{place}"] = forms.ChoiceField(
                label=name,
                choices=[("", as_it_is % {"node": name}), *others],
                required=False,
                initial=nodes.get(name, ""),
            )
        if user.is_superuser:
            fields["keep_ids"] = forms.BooleanField(
                label=_("Give it the permanent ids that it says"),
                help_text=_("Only of a source that you trust: under them it is cited. Else it has ids of its own."),
                required=False,
                initial=incoming.choices.get("keep_ids", False),
            )
        self.add_fields(fields)

    @property
    def node_fields(self) -> list[Any]:
        """Return a field for each node of the archive: which it is here."""
        return [self[f"node-{place}"] for place in range(len(self._nodes))]

    @property
    def keep_ids_field(self) -> Any:
        """Return the field of who may give it the ids that it says, else None."""
        return self["keep_ids"] if "keep_ids" in self.fields else None

    def choices(self) -> dict[str, Any]:
        """Return what was chosen, as `services.agree` takes it, once the form is valid."""
        values = self.cleaned_data
        nodes = {name: values[f"node-{place}"] for place, name in enumerate(self._nodes)}
        return {
            "nodes": {name: other for name, other in nodes.items() if other},
            "keep_ids": values.get("keep_ids", False),
        }
