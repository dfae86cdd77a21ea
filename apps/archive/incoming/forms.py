"""The forms of incoming archives: which file into which team, and whom and what its names stand for."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.accounts.team_imports import IntoTeamForm
from apps.archive.incoming.models import IncomingArchive
from apps.core.forms import StyledWidgets
from apps.testbeds.models import Node

NOBODY = "-"


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
    """A node of the team for each node of an archive, and a member for each person it names."""

    def __init__(self, *args: Any, incoming: IncomingArchive, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        here = list(Node.objects.filter(team=incoming.team).order_by("name").values_list("name", flat=True))
        members = list(incoming.team.members.order_by("username").values_list("username", flat=True))
        self._nodes, self._people = incoming.preview["nodes"], incoming.preview["people"]
        # What was chosen before, where that could not be stored.
        nodes, people = (incoming.choices.get(name, {}) for name in ("nodes", "people"))
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
        for place, person in enumerate(self._people):
            name = person["username"]
            label = f"{name} ({person['name']})" if person["name"] else name
            fields[f"person-{place}"] = forms.ChoiceField(
                label=label,
                choices=[(NOBODY, _("nobody here")), *((member, member) for member in members)],
                initial=people.get(name, name if name in members else "") or NOBODY,
            )
        self.add_fields(fields)

    @property
    def node_fields(self) -> list[Any]:
        """Return a field for each node of the archive: which it is here."""
        return [self[f"node-{place}"] for place in range(len(self._nodes))]

    @property
    def person_fields(self) -> list[Any]:
        """Return a field for each person of the archive: who it is here."""
        return [self[f"person-{place}"] for place in range(len(self._people))]

    def choices(self) -> dict[str, dict[str, str]]:
        """Return what was chosen, once the form is valid."""
        values = self.cleaned_data
        nodes = {name: values[f"node-{place}"] for place, name in enumerate(self._nodes)}
        people = {person["username"]: values[f"person-{place}"] for place, person in enumerate(self._people)}
        return {
            "nodes": {name: other for name, other in nodes.items() if other},
            "people": {name: "" if other == NOBODY else other for name, other in people.items()},
        }
