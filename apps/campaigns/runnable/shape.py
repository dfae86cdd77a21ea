"""The shape of a recipe, and nothing but its shape: what the values mean is checked where experiments are made."""

from typing import Any

from rest_framework import serializers

FORMAT = "fathom-campaign"
VERSION = 1
MOST_EXPERIMENTS = 200
_LONGEST = 10_000


class _Player(serializers.Serializer):
    node = serializers.CharField(required=False, max_length=200)
    cluster = serializers.CharField(required=False, max_length=200)


class _Factor(serializers.Serializer):
    name = serializers.CharField(max_length=100)
    expression = serializers.CharField(max_length=_LONGEST)


def _texts() -> serializers.ListField:
    return serializers.ListField(child=serializers.CharField(max_length=1000), required=False)


class ExperimentShape(serializers.Serializer):
    """One experiment; `after` is the place of another in the list, from 0."""

    name = serializers.CharField(max_length=200)
    tool = serializers.CharField(max_length=50)
    roles = serializers.DictField(child=serializers.ListField(child=_Player(), allow_empty=False))
    fixed = serializers.DictField(child=serializers.CharField(allow_blank=True, max_length=1000), required=False)
    factors = serializers.ListField(child=_Factor(), required=False)
    zips = serializers.ListField(child=_texts(), required=False)
    exclusions = _texts()
    file_system = serializers.CharField(required=False, max_length=200)
    after = serializers.IntegerField(required=False, min_value=0)
    repetitions = serializers.IntegerField(required=False, min_value=0, max_value=10_000)
    warmups = serializers.IntegerField(required=False, min_value=0, max_value=10_000)
    order = serializers.CharField(required=False, max_length=20)
    seed = serializers.IntegerField(required=False, min_value=0, max_value=2**31 - 1)
    max_attempts = serializers.IntegerField(required=False, min_value=0, max_value=10_000)
    retry_wait_s = serializers.IntegerField(required=False, min_value=0, max_value=2**31 - 1)
    context: Any = serializers.BooleanField(required=False)
    precision = serializers.FloatField(required=False)
    most_repetitions = serializers.IntegerField(required=False, min_value=0, max_value=10_000)
    search_factor = serializers.CharField(required=False, allow_blank=True, max_length=100)
    search_goal = serializers.CharField(required=False, max_length=20)
    search_budget = serializers.IntegerField(required=False, min_value=0, max_value=10_000)


class RecipeShape(serializers.Serializer):
    """A whole recipe; `campaign` is the permanent id of the one that it was written from."""

    campaign = serializers.CharField(required=False, allow_blank=True, max_length=20)
    name = serializers.CharField(max_length=200)
    goal = serializers.CharField(required=False, allow_blank=True, max_length=_LONGEST)
    experiments = serializers.ListField(child=ExperimentShape(), allow_empty=False, max_length=MOST_EXPERIMENTS)
