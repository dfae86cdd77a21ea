"""Forms that are about many things: nodes by pattern, a file to import, the two ends of a path."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import Team
from apps.core.forms import QuantityField, StyledWidgets
from apps.testbeds import inventory, queries
from apps.testbeds.forms.fields import lines
from apps.testbeds.models import Cluster, Node, Switch


class AddNodesForm(StyledWidgets, forms.Form):
    """Many like nodes of a testbed, each with a link to a switch if one is chosen."""

    names = forms.CharField(
        label=_("Names"),
        max_length=2000,
        widget=lines(1, "kgfs[01-04]"),
        help_text=_("A pattern stands for several names: kgfs[01-04] is kgfs01, kgfs02, kgfs03 and kgfs04."),
    )
    addresses = forms.CharField(
        label=_("Addresses"),
        max_length=2000,
        required=False,
        widget=lines(1, "10.0.1.[11-14]"),
        help_text=_("One for each name, in the same order; a pattern or a list."),
    )
    switch = forms.ModelChoiceField(
        Switch.objects.all(),
        label=_("Linked to"),
        required=False,
        empty_label=_("no link"),
        help_text=_("Each node gets a link of its own to this switch."),
    )
    capacity_bps = QuantityField(
        kind="rate", label=_("Capacity of each link"), required=False, help_text=_("For example 1 Gbit/s.")
    )
    rtt_s = QuantityField(kind="duration", label=_("RTT of each link"), required=False)
    mtu = forms.IntegerField(label=_("MTU of each link"), required=False, min_value=68, max_value=65535)

    def __init__(self, *args: Any, team: Team, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        switches: Any = self.fields["switch"]
        switches.queryset = switches.queryset.filter(team=team)

    def values(self) -> dict[str, Any]:
        """Return what `services.add_nodes` takes."""
        cleaned = self.cleaned_data
        return {
            "names": cleaned["names"],
            "addresses": cleaned["addresses"],
            "switch": cleaned["switch"],
            "link": {name: cleaned[name] for name in ("capacity_bps", "rtt_s", "mtu")},
        }


class ImportForm(StyledWidgets, forms.Form):
    """An inventory as a file, or pasted."""

    file = forms.FileField(label=_("File"), required=False, help_text=_("A YAML file, as the export writes it."))
    inventory = forms.CharField(
        label=_("Or its text"),
        required=False,
        strip=False,
        # Of bytes; its reader says so in words, this is only the end of what is read at all.
        max_length=4 * inventory.MOST_BYTES,
        widget=lines(12, "sites:\n- name: KISTI"),
    )

    def clean(self) -> dict[str, Any] | None:
        """Return the text of either."""
        cleaned = super().clean() or {}
        if file := cleaned.get("file"):
            if file.size > inventory.MOST_BYTES:
                self.add_error("file", _now("The file is too large; split it."))
                return cleaned
            try:
                cleaned["inventory"] = inventory.decode(file.read())
            except ValidationError as error:
                self.add_error("file", error.messages)
        elif not cleaned.get("inventory", "").strip() and "inventory" not in self.errors:
            self.add_error("inventory", _now("Choose a file, or paste its text."))
        return cleaned


class _PathFields(forms.Form):
    def __init__(self, *args: Any, team: Team, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        nodes = [(f"node:{pk}", name) for pk, name in Node.objects.filter(team=team).values_list("pk", "name")]
        clusters = Cluster.objects.filter(team=team).values_list("pk", "name")
        ends = [
            ("", "—"),
            (_now("Clusters"), [(f"cluster:{pk}", name) for pk, name in clusters]),
            (_now("Nodes"), nodes),
        ]
        # "from" is no name that Python allows for an attribute.
        self.fields["from"] = forms.ChoiceField(label=_now("From"), choices=ends)
        self.fields["to"] = forms.ChoiceField(label=_now("To"), choices=ends)
        self.fields["clients"] = forms.IntegerField(
            label=_now("Clients up to"), required=False, min_value=1, max_value=queries.MOST_CLIENTS
        )


class PathForm(StyledWidgets, _PathFields):
    """The two ends of a path, each a node or a cluster, and how many clients to count up to."""
