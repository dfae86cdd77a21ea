"""Form fields of the inventory: addresses by line, nodes by pattern, ends of links, mounts."""

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from apps.accounts.models import Team
from apps.testbeds import patterns, services
from apps.testbeds.models import Cluster, Node, Switch
from apps.testbeds.queries import paths

LONGEST_LINE = 10_000


def lines(rows: int, placeholder: str) -> forms.Textarea:
    """Return a box for several lines of technical text."""
    return forms.Textarea(
        attrs={"rows": rows, "placeholder": placeholder, "spellcheck": "false", "autocapitalize": "off"}
    )


class AddressesField(forms.CharField):
    """A node's addresses, one a line: "10.0.0.1" or "10.0.0.1 eth0"."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, max_length=LONGEST_LINE, widget=lines(3, "10.0.0.1 eth0"), **kwargs)

    def prepare_value(self, value: Any) -> Any:
        """Return stored addresses as lines."""
        if isinstance(value, str) or value is None:
            return value
        return "\n".join(f"{item.address} {item.interface}".strip() for item in value)

    def clean(self, value: Any) -> Any:
        """Return an address for each line; ValidationError names a line of more than two words."""
        addresses = []
        for number, line in enumerate((super().clean(value) or "").splitlines(), start=1):
            words = line.split()
            if len(words) > 2:
                raise ValidationError(
                    _("Line %(number)s: write an address and, if you like, the interface that has it.")
                    % {"number": number}
                )
            if words:
                addresses.append(services.Address(*words))
        return addresses


class NodesField(forms.CharField):
    """A cluster's nodes by name and pattern: "KIGFS[01-04], HEXA01"; `team` is set by the form."""

    team: Team

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, max_length=LONGEST_LINE, widget=lines(3, "KGFS[01-04], HEXA01"), **kwargs)

    def prepare_value(self, value: Any) -> Any:
        """Return stored nodes as the shortest pattern."""
        if isinstance(value, str) or value is None:
            return value
        return patterns.compress_names(node.name for node in value)

    def clean(self, value: Any) -> Any:
        """Return the team's nodes of these names."""
        names = dict.fromkeys(patterns.expand_pattern(super().clean(value) or ""))
        nodes = {node.name: node for node in Node.objects.filter(team=self.team, name__in=names)}
        if unknown := [name for name in names if name not in nodes]:
            raise ValidationError(
                _("The team has no nodes called %(names)s: correct the names, or add the nodes first.")
                % {"names": patterns.compress_names(unknown[:20])}
            )
        return list(nodes.values())


class EndField(forms.ChoiceField):
    """An end of a link: a switch or a node of the team."""

    def offer(self, team: Team) -> None:
        """Offer what the team has, the switches first, the nodes by testbed."""
        switches = [(paths.switch_key(switch), switch.name) for switch in Switch.objects.filter(team=team)]
        groups: dict[str, list[tuple[str, str]]] = {}
        nodes = Node.objects.filter(team=team).select_related("testbed").order_by("testbed__name", "name")
        for node in nodes:
            groups.setdefault(node.testbed.name, []).append((paths.node_key(node), node.name))
        self.choices = [
            ("", "—"),
            (_("Switches"), switches),
            *((_("Nodes of %(testbed)s") % {"testbed": name}, members) for name, members in groups.items()),
        ]

    def columns(self, end: str, value: str) -> dict[str, Any]:
        """Return what a chosen value sets on the link's end "a" or "b"."""
        kind, _colon, number = value.partition(":")
        model = Switch if kind == "switch" else Node
        columns: dict[str, Any] = {f"{end}_node": None, f"{end}_switch": None}
        return columns | {f"{end}_{kind}": model._default_manager.get(pk=number)}


class MountsWidget(forms.Widget):
    """A row for each cluster: whether it mounts the file system, and where if elsewhere."""

    template_name = "testbeds/mounts_widget.html"
    use_fieldset = True
    clusters: Iterable[Cluster] = ()

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> dict[int, str]:
        """Return the path ("" for the usual one) by id of each cluster ticked."""
        ticked = set(data.getlist(name)) if hasattr(data, "getlist") else set(data.get(name, ()))
        return {
            cluster.pk: data.get(f"{name}-path-{cluster.pk}", "").strip()
            for cluster in self.clusters
            if str(cluster.pk) in ticked
        }

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        """Add the rows."""
        context = super().get_context(name, value, attrs)
        mounted = value or {}
        context["widget"]["rows"] = [
            {"cluster": cluster, "ticked": cluster.pk in mounted, "path": mounted.get(cluster.pk, "")}
            for cluster in self.clusters
        ]
        return context


class MountsField(forms.Field):
    """The clusters that mount a file system."""

    widget: Any = MountsWidget
    offered: Mapping[int, Cluster] = {}

    def offer(self, team: Team) -> None:
        """Offer the team's clusters."""
        self.offered = {cluster.pk: cluster for cluster in Cluster.objects.filter(team=team)}
        self.widget.clusters = self.offered.values()

    def prepare_value(self, value: Any) -> Any:
        """Return stored mounts as the widget has them."""
        return value if isinstance(value, dict) else {item.cluster.pk: item.path for item in value or ()}

    def clean(self, value: Any) -> Any:
        """Return a mount point for each cluster that was given a path."""
        return [services.MountPoint(self.offered[pk], path) for pk, path in value.items()]
