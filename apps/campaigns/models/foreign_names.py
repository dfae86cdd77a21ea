"""Names of others' things and people, which stand in what is made of their archives, recipes and campaigns."""

from typing import Any, NamedTuple

from django.db import models

from apps.accounts.models import Team
from apps.core.models import KIB, BoundedJSONField


class NameKind(models.TextChoices):
    """What has a name that strangers must not read."""

    NODE = "node"
    HOST = "host"
    ADDRESS = "address"
    INTERFACE = "interface"
    MACHINE = "machine"
    CLUSTER = "cluster"
    FILE_SYSTEM = "file-system"
    TESTBED = "testbed"
    SITE = "site"
    SWITCH = "switch"
    LINK = "link"
    PLACE = "place"
    USER = "user"
    PERSON = "person"
    # Of others only: a campaign's own team is cited by its name.
    TEAM = "team"


class ForeignName(NamedTuple):
    """One name, of a person the given one and the family's."""

    kind: str
    name: str
    family: str = ""


class ForeignNames(models.Model):
    """Names that came to a team with an archive, a recipe or another team's campaign.

    They are in no inventory of the team, but in texts that it may publish, and are hidden there. What is made of a
    campaign has the same row, which never changes. No page and no REST answer shows one; an archive of the campaign
    has the names, so that they are hidden where it comes in.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    # Of the names.
    digest = models.CharField(max_length=64)
    # Each a `ForeignName`, in their order. No team's own names can be hidden if they are more.
    names = BoundedJSONField(most_bytes=8 * KIB * KIB)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "digest"], name="foreign_names_once_per_team")]

    def __str__(self) -> str:
        return self.digest

    @property
    def all(self) -> list[ForeignName]:
        """Return each with its kind, in their order."""
        rows: list[Any] = self.names
        return [ForeignName(*row) for row in rows]
