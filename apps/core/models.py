"""The base of every model, and the rows that the timetable has set aside."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.validators import ArrayMaxLengthValidator
from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator
from django.db import models, transaction
from django.utils.deconstruct import deconstructible
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.bench import strict_json
from apps.core import clock, names
from apps.core.limits import owned

KIB = 1024


class _BoundOfNoTable(models.Field):
    """Base of fields with a bound that is none of the table's: migrations know them as Django's own."""

    written_as: str

    def deconstruct(self) -> Any:
        """Return what a migration writes."""
        name, _path, args, kwargs = super().deconstruct()
        return name, self.written_as, args, kwargs


class LineField(_BoundOfNoTable, models.CharField):
    """A text of one line that somebody types: no sign in it is unseen, or turns what stands beside it elsewhere."""

    written_as = "django.db.models.CharField"
    default_validators = [*models.CharField.default_validators, names.check_seen]


class BoundedTextField(_BoundOfNoTable, models.TextField):
    """A text of `max_length` characters at most at every door: Django holds a TextField to it in forms only."""

    written_as = "django.db.models.TextField"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.max_length is not None:
            self.validators = [*self.validators, MaxLengthValidator(self.max_length)]


@deconstructible
class MostBytesValidator:
    """Refuses a value that is longer as JSON."""

    def __init__(self, most: int) -> None:
        self.most = most

    def __call__(self, value: Any) -> None:
        """Raise ValidationError if it is too long."""
        if len(strict_json.dumps(value, ensure_ascii=False, default=str).encode(errors="replace")) > self.most:
            text = gettext("This is too long: at most %(most)s bytes are kept here.")
            raise ValidationError(text % {"most": self.most})


class BoundedJSONField(_BoundOfNoTable, models.JSONField):
    """A value of `most_bytes` at most, written as JSON, at every door: a database holds any."""

    written_as = "django.db.models.JSONField"

    def __init__(self, *args: Any, most_bytes: int = 64 * KIB, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "encoder": strict_json.Encoder})
        self.most_bytes = most_bytes
        self.validators = [*self.validators, MostBytesValidator(most_bytes)]

    def deconstruct(self) -> Any:
        """Return what a migration writes: a table knows nothing of encoders."""
        name, path, args, kwargs = super().deconstruct()
        del kwargs["encoder"]
        return name, path, args, kwargs


class BoundedArrayField(_BoundOfNoTable, ArrayField):
    """A list of `most` entries at most, of texts also of `most_bytes`, written as JSON, at every door."""

    written_as = "django.contrib.postgres.fields.ArrayField"

    def __init__(self, *args: Any, most: int = 1000, most_bytes: int = 64 * KIB, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.most = most
        self.validators = [*self.validators, ArrayMaxLengthValidator(most)]
        if isinstance(self.base_field, models.CharField):
            self.most_bytes = most_bytes
            self.validators.append(MostBytesValidator(most_bytes))


class LimitedRows(models.QuerySet[Any]):
    """Rows of which an owner may have only so many."""

    def bulk_create(self, objs: Iterable[Any], *args: Any, **kwargs: Any) -> list[Any]:
        """Store new rows; TooManyOwnedError, and nothing stored, if their owner would have too many."""
        rows = list(objs)
        if not owned.is_limited(self.model):
            return super().bulk_create(rows, *args, **kwargs)
        with transaction.atomic(using=self.db):
            owned.require_room(rows)
            return super().bulk_create(rows, *args, **kwargs)


class Limited(models.Model):
    """Base of what an owner may have only so many of (core.limits.owned); of others nothing is asked."""

    objects = LimitedRows.as_manager()

    class Meta:
        abstract = True

    def save(self, *args: Any, **options: Any) -> None:
        """Store it; TooManyOwnedError, and nothing stored, if it is new and its owner would have too many."""
        if not self._state.adding or not owned.is_limited(type(self)):
            super().save(*args, **options)
            return
        with transaction.atomic():
            owned.require_room([self])
            super().save(*args, **options)


class TimeStamped(Limited):
    """Adds when a row was made and last changed."""

    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    class Meta:
        abstract = True

    def save(self, *, force_insert: Any = False, force_update: bool = False, **options: Any) -> None:
        """Store it; DatabaseError, and nothing stored, if it was read before and somebody deleted it since."""
        if not self._state.adding and not force_insert:
            # Else Django would store it anew.
            force_update = True
        super().save(force_insert=force_insert, force_update=force_update, **options)


class SetAside(models.Model):
    """A row with which a piece of periodic work failed, so that it does not keep the others from theirs.

    `work` is the name of the work, `row_id` the primary key of the row (0: the work as a whole failed), `reason` the
    kind of the error and its text. It is tried again at `retry_at`, each time after a longer while.
    """

    work = models.CharField(_("work"), max_length=60)
    row_id = models.BigIntegerField(_("row"), default=0)
    reason = BoundedTextField(_("reason"), max_length=2000)
    # Which of the core.troubles.WORDS tells of it to those whose row it is.
    cause = models.CharField(max_length=10, default="other", db_default="other", editable=False)
    attempts = models.PositiveIntegerField(_("attempts"), default=0)
    first_at = models.DateTimeField(_("first failed"))
    last_at = models.DateTimeField(_("last failed"))
    retry_at = models.DateTimeField(_("tried again at"))

    class Meta:
        ordering = ["-last_at", "-pk"]
        verbose_name = _("row set aside")
        verbose_name_plural = _("rows set aside")
        constraints = [models.UniqueConstraint(fields=["work", "row_id"], name="one_setting_aside_per_row")]

    def __str__(self) -> str:
        return f"{self.work} {self.row_id}"

    def is_waiting(self, now: datetime) -> bool:
        """Return whether its time to be tried again has not come; it has if the clock was set back since."""
        return self.retry_at > now and not clock.is_ahead(self.last_at, now)


class WorkerTime(models.Model):
    """What a team, or a person, had of the workers' time lately, as the order of long work weighs it.

    `owner` is "team 3" or "person 5", or of what is counted by itself "reading of team 3"; `spent_s` seconds as they
    counted `at` a time.
    """

    HALVES_AFTER_S = 3600.0

    owner = models.CharField(max_length=40, primary_key=True)
    spent_s = models.FloatField(default=0.0)
    at = models.DateTimeField(_("when"), db_index=True)

    class Meta:
        verbose_name = _("time that workers gave")
        verbose_name_plural = _("times that workers gave")

    def __str__(self) -> str:
        return self.owner

    def lately_s(self, now: datetime) -> float:
        """Return how much of it counts now (s): half of it an hour later."""
        passed_s = max(0.0, (now - self.at).total_seconds())
        return float(self.spent_s * 0.5 ** (passed_s / self.HALVES_AFTER_S))


class LastChange(models.Model):
    """Who last changed a thing through a form or over REST, so that whoever else was at it can be told.

    `kind` is the model's label, such as "testbeds.node"; forgotten after a month: no form is open for so long.
    """

    kind = models.CharField(_("kind"), max_length=100)
    row_id = models.BigIntegerField(_("row"))
    username = models.CharField(_("user"), max_length=150)
    at = models.DateTimeField(_("when"), db_index=True)

    class Meta:
        verbose_name = _("last change")
        verbose_name_plural = _("last changes")
        constraints = [models.UniqueConstraint(fields=["kind", "row_id"], name="one_last_change_per_row")]

    def __str__(self) -> str:
        return f"{self.kind} {self.row_id}"


class ClockLead(models.Model):
    """How far (s) a machine's clock was ahead of the time since its start (`boot`) at the last look.

    Kept here, not at the broker: that may lose what it holds in the very outage in which the clock is set.
    """

    boot = models.CharField(max_length=64, unique=True)
    lead_s = models.FloatField()

    def __str__(self) -> str:
        return self.boot
