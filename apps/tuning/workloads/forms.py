"""The form that describes a workload."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.accounts import rights, team_choice
from apps.accounts.models import Role, Team, User
from apps.bench.rules.workloads import Workload
from apps.core.forms import QuantityField, StyledWidgets
from apps.testbeds.models import FileSystem
from apps.tuning.workloads import descriptions

PATTERNS = [
    ("write", _("write, one after the other")),
    ("read", _("read, one after the other")),
    ("randwrite", _("write at random places")),
    ("randread", _("read at random places")),
]


class WorkloadForm(StyledWidgets, forms.Form):
    """What an application does to its files, all nodes at once, and what it needs."""

    team = forms.ModelChoiceField(Team.objects.none(), label=_("Team"), empty_label=None)
    pattern = forms.ChoiceField(choices=PATTERNS, label=_("Pattern"))
    file_size = QuantityField(kind="size", label=_("Size of a file"), help_text=_("Such as 4 GiB."))
    nodes = forms.IntegerField(
        label=_("Nodes that do I/O"),
        min_value=1,
        max_value=descriptions.MOST_NODES,
        initial=1,
        help_text=_("All at once."),
    )
    tasks = forms.IntegerField(
        label=_("Tasks on each node"), min_value=1, max_value=descriptions.MOST_TASKS, initial=1
    )
    record_size = QuantityField(
        kind="size", label=_("Bytes of each call"), required=False, help_text=_("Such as 1 MiB; empty: large.")
    )
    shared = forms.BooleanField(label=_("All tasks share one file"), required=False)
    total = QuantityField(
        kind="size", label=_("Bytes in all"), required=False, help_text=_("Such as 2 TiB; tells how long it takes.")
    )
    wanted = QuantityField(
        kind="byte-rate",
        label=_("Rate needed"),
        required=False,
        help_text=_("Such as 500 MB/s, of all nodes together."),
    )
    file_system = forms.ModelChoiceField(
        FileSystem.objects.none(), label=_("File system"), required=False, empty_label=_("any")
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        team: Any = self.fields["team"]
        team.queryset = rights.teams_for(user, Role.VIEWER).order_by("name")
        team.initial = team_choice.usual_team(user)
        files: Any = self.fields["file_system"]
        files.queryset = rights.visible(FileSystem.objects.all(), user).order_by("name")

    def clean(self) -> dict[str, Any]:
        """Refuse sizes of nothing, and a file system of another team."""
        data = super().clean() or {}
        for name, text in descriptions.problems_of(data).items():
            self.add_error(name, text)
        return data

    def workload(self) -> Workload:
        """Return what a valid form describes."""
        return descriptions.workload_of(self.cleaned_data)
