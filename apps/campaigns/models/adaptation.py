"""What an experiment decides by itself while it is measured: how often to repeat, and where to measure next."""

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _


class Adaptive(models.Model):
    """Repetition until a mean is known well enough, and a search along one factor.

    `precision` is the wanted half-width of the 95 % interval over the mean (0.03 is 3 %), null to repeat as often as
    given; `most_repetitions` ends it in any case. With a `search_factor` its values are refined near the knee or the
    optimum, by `search_budget` values at most for each combination of the other factors and of nodes.
    """

    class Goal(models.TextChoices):
        KNEE = "knee", _("the knee, where more gains nothing")
        MAXIMUM = "maximum", _("the highest value")
        MINIMUM = "minimum", _("the lowest value")

    precision = models.FloatField(
        _("repeat until within"),
        null=True,
        blank=True,
        validators=[MinValueValidator(0.001), MaxValueValidator(0.5)],
        help_text=_(
            "Half the width of the mean's interval (95 %) over the mean, for example 0.03; empty repeats as given."
        ),
    )
    most_repetitions = models.PositiveSmallIntegerField(
        _("repetitions at most"), default=20, validators=[MinValueValidator(3), MaxValueValidator(1000)]
    )
    search_factor = models.CharField(_("refine the factor"), max_length=100, blank=True)
    search_goal = models.CharField(_("near"), max_length=8, choices=Goal.choices, default=Goal.KNEE)
    search_budget = models.PositiveSmallIntegerField(
        _("further values at most"), default=8, validators=[MinValueValidator(1), MaxValueValidator(200)]
    )

    class Meta:
        abstract = True

    @property
    def is_adaptive(self) -> bool:
        """Return whether anything is decided while it is measured."""
        return self.precision is not None or bool(self.search_factor)
