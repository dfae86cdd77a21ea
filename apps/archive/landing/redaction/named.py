"""The one list of what has a name that strangers must not read; a test compares it with the models' fields."""

from typing import NamedTuple

from django.db.models import Model

from apps.accounts.models import User
from apps.agents.models import AgentInstance, FactSnapshot
from apps.archive.landing.models import FormerName
from apps.testbeds.models import Cluster, FileSystem, Link, Node, NodeAddress, Site, Switch, Testbed

K = FormerName.Kind


class NamingField(NamedTuple):
    """A field of a model that holds names, and of which kind they are."""

    model: type[Model]
    field: str
    kind: str


# A new one needs a trigger as well (migration 0014_former_names has those of these), or its former names are read.
NAMED = (
    NamingField(Node, "name", K.NODE),
    NamingField(NodeAddress, "address", K.ADDRESS),
    NamingField(FactSnapshot, "facts", K.HOST),
    NamingField(AgentInstance, "host", K.HOST),
    NamingField(AgentInstance, "address", K.INTERFACE),
    NamingField(Cluster, "name", K.CLUSTER),
    NamingField(FileSystem, "name", K.FILE_SYSTEM),
    NamingField(Testbed, "name", K.TESTBED),
    NamingField(Site, "name", K.SITE),
    NamingField(Switch, "name", K.SWITCH),
    NamingField(Link, "name", K.LINK),
    NamingField(Site, "place", K.PLACE),
    NamingField(Testbed, "location", K.PLACE),
    NamingField(User, "username", K.USER),
    NamingField(User, "first_name", K.PERSON),
    NamingField(User, "last_name", K.PERSON),
)
# What stands in the inventory by itself: its names are told by their numbers.
INVENTORY = tuple(
    named for named in NAMED if named.kind in (K.CLUSTER, K.FILE_SYSTEM, K.TESTBED, K.SITE, K.SWITCH, K.LINK)
)
PLACES = tuple(named for named in NAMED if named.kind == K.PLACE)
# The owner of a name of these kinds is a node.
OF_NODES = (K.NODE, K.HOST, K.ADDRESS, K.INTERFACE, K.MACHINE)
