"""Names that a team's things and people had, which stay hidden in what was written under them; kept texts."""

from django.db import models

from apps.accounts.models import Team
from apps.campaigns.models import Campaign
from apps.campaigns.models.foreign_names import NameKind
from apps.campaigns.recipe_sizes import MOST_BYTES
from apps.core.models import BoundedTextField


class FormerName(models.Model):
    """A name that a thing or a person of a team had, though the thing may be renamed, changed or gone since.

    Rows are written by triggers of the database alone (migration 0014_former_names), in the transaction in which a
    name goes: a service, an administrator's page, an update of many rows, a cascade and SQL by hand cannot forget
    them. Of each kind a thing or a person has the latest 100 (migration 0009_last_names), a team 16,384 and up to 256
    more (migration 0010_names_of_a_team). What programs on a node say
    of it (HOST, INTERFACE, MACHINE) is kept from when it is said first: of each kind the latest 2,048 of a node, and
    32,768 in all of a team (migration 0008_bounded_names). What looks like an address is hidden whether it is kept or
    not. No page, no file, no archive and no REST answer shows a row.
    """

    Kind = NameKind

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="former_names")
    kind = models.CharField(max_length=16, choices=Kind.choices)
    # The key of the thing, of a person that of the membership: it keeps its number, though the thing is gone.
    owner = models.BigIntegerField()
    # Of a person the given name.
    name = models.CharField(max_length=255, blank=True)
    family = models.CharField(max_length=150, blank=True)

    class Meta:
        db_table = "results_formername"
        ordering = ["-id"]
        constraints = [
            # Its index is also the one by team.
            models.UniqueConstraint(
                fields=["team", "kind", "owner", "name", "family"], name="former_name_once_per_thing"
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.family}".strip()


class KeptText(models.Model):
    """A part of what readers see of a campaign, in a language, with or without names: it takes seconds to be written.

    `digest` is the sum of all that it was written from (`landing.kept`): it is read for as long as that is so. The
    first half is that of all but what was measured, the second of this.
    """

    # Of each half of the digest.
    SUM_CHARACTERS = 32

    # What stands for a name may be longer than it, and YAML is longer than what is weighed. Longer is not kept.
    MOST_CHARACTERS = 16 * MOST_BYTES

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="+")
    part = models.CharField(max_length=50)
    language = models.CharField(max_length=20)
    hidden = models.BooleanField()
    digest = models.CharField(max_length=2 * SUM_CHARACTERS)
    text = BoundedTextField(max_length=MOST_CHARACTERS)
    written_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "part", "language", "hidden"], name="one_kept_text_per_part")
        ]

    def __str__(self) -> str:
        return f"{self.campaign_id} {self.part} {self.language}"
