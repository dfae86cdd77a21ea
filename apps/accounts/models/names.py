"""Names by which teams and people are known: two must not be taken for each other."""

from collections.abc import Collection
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models

from apps.core import names

# A name's skeleton is no longer; behind the mark stands a number that keeps apart what was alike before this rule.
LONGEST = 180
MARK = "\x01"


class SkeletonField(models.CharField):
    """What the name in the field `of` looks like, kept whenever a row is stored, in bulk, too."""

    def __init__(self, *, of: str, **kwargs: Any) -> None:
        self.of = of
        super().__init__(**kwargs)

    def deconstruct(self) -> Any:
        """Return it for a migration."""
        name, path, args, kwargs = super().deconstruct()
        return name, path, args, {**kwargs, "of": self.of}

    def pre_save(self, model_instance: models.Model, add: bool) -> str:
        """Return the skeleton of the name as it is now."""
        value = self.value_of(model_instance)
        setattr(model_instance, self.attname, value)
        return value

    def value_of(self, row: models.Model) -> str:
        """Return the skeleton of a row's name, with its number if it has one."""
        skeleton: str = getattr(row, self.attname)
        plain = names.skeleton(getattr(row, self.of), LONGEST)
        return skeleton if skeleton.partition(MARK)[0] == plain else plain


class Named(models.Model):
    """Base of what is known by a name: `skeleton` is a SkeletonField, `taken` says that a name is like another."""

    class Meta:
        abstract = True

    taken: Any = ""

    def clean_fields(self, exclude: Collection[str] | None = None) -> None:
        """Refuse a new name with what nobody sees, and one that looks like another's; one that stays is not asked."""
        super().clean_fields(exclude=exclude)
        field: Any = self._meta.get_field("skeleton")
        rows: Any = type(self)._default_manager
        if field.of in (exclude or ()) or rows.filter(pk=self.pk, **{field.of: getattr(self, field.of)}).exists():
            return
        try:
            names.check(getattr(self, field.of))
        except ValidationError as error:
            raise ValidationError({field.of: error.messages}) from error
        others = rows.filter(skeleton=field.value_of(self)).exclude(pk=self.pk)
        # To the letter the same: the field says that itself.
        alike = others.exclude(**{field.of: getattr(self, field.of)}).values_list(field.of, flat=True).first()
        if alike is not None:
            raise ValidationError({field.of: [str(self.taken) % {"name": alike}]})
