"""Campaigns and everything that carries them out."""

from apps.campaigns.models.annotations import Note
from apps.campaigns.models.campaigns import Campaign, Event
from apps.campaigns.models.experiments import Experiment, ExperimentRole
from apps.campaigns.models.foreign_names import ForeignNames
from apps.campaigns.models.outliving import Outliving
from apps.campaigns.models.reservations import Reservation
from apps.campaigns.models.shares import Share, SparedTeam
from apps.campaigns.models.tombstones import Tombstone
from apps.campaigns.models.trials import Lane, Run, Trial

__all__ = [
    "Campaign",
    "Event",
    "Experiment",
    "ExperimentRole",
    "ForeignNames",
    "Lane",
    "Note",
    "Outliving",
    "Reservation",
    "Run",
    "Share",
    "SparedTeam",
    "Tombstone",
    "Trial",
]
