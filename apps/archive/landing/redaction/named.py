"""The one list of what has a name that strangers must not read; a test compares it with the models' fields."""

from typing import NamedTuple

from django.db.models import Model

from apps.accounts.models import User
from apps.agents.models import AgentInstance, FactSnapshot
from apps.archive.landing.models import FormerName
from apps.testbeds.models import Cluster, FileSystem, Link, Node, NodeAddress, Site, Switch, Testbed

K = FormerName.Kind


class Named(NamedTuple):
    """A field of a model that holds names, and of which kind they are."""

    model: type[Model]
    field: str
    kind: str


# A new one needs a trigger as well (migration 0014_former_names has those of these), or its former names are read.
NAMED = (
    Named(Node, "name", K.NODE),
    Named(NodeAddress, "address", K.ADDRESS),
    Named(FactSnapshot, "facts", K.HOST),
    Named(AgentInstance, "host", K.HOST),
    Named(AgentInstance, "address", K.INTERFACE),
    Named(Cluster, "name", K.CLUSTER),
    Named(FileSystem, "name", K.FILE_SYSTEM),
    Named(Testbed, "name", K.TESTBED),
    Named(Site, "name", K.SITE),
    Named(Switch, "name", K.SWITCH),
    Named(Link, "name", K.LINK),
    Named(Site, "place", K.PLACE),
    Named(Testbed, "location", K.PLACE),
    Named(User, "username", K.USER),
    Named(User, "first_name", K.PERSON),
    Named(User, "last_name", K.PERSON),
)
# What stands in the inventory by itself: its names are told by their numbers.
INVENTORY = tuple(
    named for named in NAMED if named.kind in (K.CLUSTER, K.FILE_SYSTEM, K.TESTBED, K.SITE, K.SWITCH, K.LINK)
)
PLACES = tuple(named for named in NAMED if named.kind == K.PLACE)
# The owner of a name of these kinds is a node.
OF_NODES = (K.NODE, K.HOST, K.ADDRESS, K.INTERFACE, K.MACHINE)
