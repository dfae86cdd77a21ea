"""The shape of a recipe, and nothing but its shape: what the values mean is checked where experiments are made."""

from typing import Any

from rest_framework import serializers

FORMAT = "fathom-campaign"
VERSION = 1
MOST_EXPERIMENTS = 200
LONGEST_NAME = 200
LONGEST_TOOL = 50
LONGEST_VALUE = 1000
LONGEST_TEXT = 10_000


class _Player(serializers.Serializer):
    node = serializers.CharField(required=False, max_length=LONGEST_NAME)
    cluster = serializers.CharField(required=False, max_length=LONGEST_NAME)


class _Factor(serializers.Serializer):
    name = serializers.CharField(max_length=100)
    expression = serializers.CharField(max_length=LONGEST_TEXT)


def _texts() -> serializers.ListField:
    return serializers.ListField(child=serializers.CharField(max_length=LONGEST_VALUE), required=False)


class ExperimentShape(serializers.Serializer):
    """One experiment; `after` is the place of another in the list, from 0."""

    name = serializers.CharField(max_length=LONGEST_NAME)
    tool = serializers.CharField(max_length=LONGEST_TOOL)
    roles = serializers.DictField(child=serializers.ListField(child=_Player(), allow_empty=False))
    fixed = serializers.DictField(
        child=serializers.CharField(allow_blank=True, max_length=LONGEST_VALUE), required=False
    )
    factors = serializers.ListField(child=_Factor(), required=False)
    zips = serializers.ListField(child=_texts(), required=False)
    exclusions = _texts()
    file_system = serializers.CharField(required=False, max_length=LONGEST_NAME)
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
    name = serializers.CharField(max_length=LONGEST_NAME)
    goal = serializers.CharField(required=False, allow_blank=True, max_length=LONGEST_TEXT)
    experiments = serializers.ListField(child=ExperimentShape(), allow_empty=False, max_length=MOST_EXPERIMENTS)
