"""The form that asks on which nodes the same is measured again."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.accounts.models import Team
from apps.campaigns.models import Campaign
from apps.campaigns.services import NodeStandIns
from apps.core.forms import StyledWidgets
from apps.testbeds.models import Cluster, FileSystem, Node

_WHO_SEES = [(item, item.label) for item in (Campaign.Visibility.PRIVATE, Campaign.Visibility.TEAM)]
_KINDS = {"nodes": Node, "clusters": Cluster, "file_systems": FileSystem}


class RunAgainForm(StyledWidgets, forms.Form):
    """A name, a choice for each node, cluster and file system of the recipe, who sees it, and whether to start."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=200)
    visibility = forms.ChoiceField(label=gettext_lazy("Sharing"), choices=_WHO_SEES, required=False)
    launch = forms.BooleanField(label=gettext_lazy("Launch it at once"), required=False, initial=True)

    def __init__(
        self, *args: Any, needed: Mapping[str, Sequence[str]], team: Team, name: str, visibility: str, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.needed = needed
        self.fields["name"].initial = _("%(name)s (again)") % {"name": name[:170]}
        labels = {"nodes": _("In place of node %(name)s"), "clusters": _("In place of cluster %(name)s")}
        self.fields["visibility"].initial = visibility
        last = {name: self.fields.pop(name) for name in ("visibility", "launch")}
        for kind, names in needed.items():
            own = list(
                _KINDS[kind]._default_manager.filter(team=team).order_by("name").values_list("name", flat=True)
            )
            for place, name_of in enumerate(names):
                label = labels.get(kind, _("In place of file system %(name)s")) % {"name": name_of}
                self.fields[f"{kind}.{place}"] = forms.ChoiceField(
                    label=label,
                    choices=[("", _("choose…")), *((item, item) for item in own)],
                    initial=name_of if name_of in own else "",
                )
        self.add_fields(last)

    @property
    def stand_ins(self) -> NodeStandIns:
        """Return what was chosen, of a form that is valid."""
        return NodeStandIns(
            **{
                kind: {name: self.cleaned_data[f"{kind}.{place}"] for place, name in enumerate(names)}
                for kind, names in self.needed.items()
            }
        )
