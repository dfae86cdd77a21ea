"""Why campaigns and trials wait: one reason, found in one place, for every page and interface."""

from apps.campaigns.waits.notices import tell_waits
from apps.campaigns.waits.queries import (
    attach_trial_waits,
    attach_waits,
    waits_of,
    waits_of_trials,
    without_addresses,
)
from apps.campaigns.waits.reasons import REASONS, WaitReason, Waits, WaitSubject, moment

__all__ = [
    "REASONS",
    "WaitReason",
    "WaitSubject",
    "Waits",
    "attach_trial_waits",
    "attach_waits",
    "moment",
    "tell_waits",
    "waits_of",
    "waits_of_trials",
    "without_addresses",
]
