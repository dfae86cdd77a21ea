"""Files that an ended run left on a node, whose removal is owed until the node's agent has done it."""

import shlex
from datetime import timedelta

from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.core.models import KIB, BoundedJSONField, BoundedTextField, TimeStamped
from apps.testbeds.models import Node

# So often nothing is measured before an agent has tried it; then it is tried once in a while beside what is measured.
MOST_TRIES = 10
# Nothing is put off for longer.
LONGEST_WAIT = timedelta(hours=1)
LONGEST_DETAIL = 1000


class OwedRemoval(TimeStamped):
    """The commands that remove what a run left on a node, one after the other: the mount is seen before each `rm`.

    There is a row as long as nobody said that the files are gone. It tells all by itself, as it outlives its run. The
    `job` of the command at hand belongs to no run, and goes with its end.
    """

    node = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="removals", verbose_name=_("node"))
    run_ref = models.BigIntegerField(db_index=True)
    # [{"role", "argv", "time_limit_s", "ready_pattern"}]: the last one removes, the others must succeed before.
    commands = BoundedJSONField(most_bytes=16384 * KIB)
    # What nothing may be measured on meanwhile, by the caller's own names.
    resources = BoundedJSONField(default=list, blank=True)
    step = models.PositiveSmallIntegerField(default=0)
    job = models.UUIDField(null=True, blank=True)
    tries = models.PositiveSmallIntegerField(_("tries"), default=0)
    not_before = models.DateTimeField(null=True, blank=True)
    # The last try found nothing mounted where the files are.
    is_unmounted = models.BooleanField(default=False)
    # What the last try printed, if it removed nothing.
    detail = BoundedTextField(blank=True, max_length=LONGEST_DETAIL)

    class Meta:
        ordering = ["pk"]
        verbose_name = _("files to be removed")
        verbose_name_plural = _("files to be removed")

    def __str__(self) -> str:
        return self.command_line

    @property
    def paths(self) -> list[str]:
        """Return the paths of what is to be removed."""
        argv = self.commands[-1]["argv"]
        return list(argv[argv.index("--") + 1 :])

    @property
    def command_line(self) -> str:
        """Return what removes the files by hand, as one would type it into a shell on the node."""
        return shlex.join(self.commands[-1]["argv"])

    @property
    def is_given_up(self) -> bool:
        """Return whether it keeps nothing from measuring any more: the agent tries it seldom, and when nothing is."""
        return self.tries >= MOST_TRIES

    @property
    def reason(self) -> str:
        """Return why the last try removed nothing, empty before one has failed."""
        return gettext("The file system is not mounted there.") if self.is_unmounted else self.detail
