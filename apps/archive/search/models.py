"""The index that searches go through, one entry an experiment, and searches kept under a name."""

from django.conf import settings
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import TeamOwned
from apps.campaigns.models import Experiment
from apps.core.models import BoundedTextField
from apps.core.names import check_seen
from apps.testbeds.models import Node


class SearchEntry(models.Model):
    """What an experiment that was launched, or brought here, is found by; `indexing` makes it anew when it is due.

    `nodes` are all that played a role; `trials` succeeded, from `first_at` to `last_at`. `of` is the state of the
    experiment that the entry tells of: while it is what it was, nothing has changed.
    """

    experiment = models.OneToOneField(
        Experiment, on_delete=models.CASCADE, primary_key=True, related_name="search_entry"
    )
    nodes = models.ManyToManyField(Node, related_name="search_entries")
    trials = models.PositiveIntegerField(default=0)
    first_at = models.DateTimeField(null=True)
    last_at = models.DateTimeField(null=True)
    words = SearchVectorField(null=True)
    of = models.DateTimeField()
    indexed_at = models.DateTimeField()

    class Meta:
        db_table = "results_searchentry"
        verbose_name = _("entry of the archive")
        verbose_name_plural = _("entries of the archive")
        indexes = [GinIndex(fields=["words"], name="search_words")]


class SearchEnd(models.Model):
    """The two ends between which an experiment measured: the first nodes of its tool's first two roles."""

    entry = models.ForeignKey(SearchEntry, on_delete=models.CASCADE, related_name="ends")
    a = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="+")
    b = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="+")

    class Meta:
        db_table = "results_searchend"
        constraints = [models.UniqueConstraint(fields=["entry", "a", "b"], name="one_search_end_per_pair")]


class SearchValue(models.Model):
    """One of the values that a parameter took in an experiment: a number in base units, or a text."""

    entry = models.ForeignKey(SearchEntry, on_delete=models.CASCADE, related_name="values")
    name = models.CharField(max_length=100)
    number = models.FloatField(null=True)
    text = models.CharField(max_length=200, blank=True)

    class Meta:
        db_table = "results_searchvalue"
        indexes = [
            models.Index(fields=["name", "number"], name="search_numbers"),
            models.Index(fields=["name", "text"], name="search_texts"),
        ]


class SearchMetric(models.Model):
    """The figures of a metric in an experiment that count, in its base unit: how many, the lowest and the highest of
    all, and of the means of its points; so many of them are `flagged`.
    """

    entry = models.ForeignKey(SearchEntry, on_delete=models.CASCADE, related_name="metrics")
    name = models.CharField(max_length=50)
    n = models.PositiveIntegerField()
    low = models.FloatField()
    high = models.FloatField()
    low_mean = models.FloatField()
    high_mean = models.FloatField()
    flagged = models.PositiveIntegerField(default=0, db_default=0)

    class Meta:
        db_table = "results_searchmetric"
        constraints = [models.UniqueConstraint(fields=["entry", "name"], name="one_search_metric_per_name")]
        indexes = [models.Index(fields=["name", "high"], include=["low"], name="search_metrics")]


class SavedSearch(TeamOwned):
    """A search kept under a name: the query of its address."""

    name = models.CharField(_("name"), max_length=200, validators=[check_seen])
    query = BoundedTextField(_("search"), max_length=8000)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="saved_searches"
    )

    class Meta:
        db_table = "results_savedsearch"
        ordering = ["name", "pk"]
        verbose_name = _("saved search")
        verbose_name_plural = _("saved searches")
        constraints = [
            models.UniqueConstraint(
                fields=["team", "name"],
                name="saved_search_name_unique_in_team",
                violation_error_message=_("The team already has one of this name: choose another name."),
            )
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        """Return the address of the search."""
        return f"{reverse('archive:search')}?{self.query}"
