"""What has the name that a person gives for a campaign's archive is not lost unless it is a file."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from apps.campaigns.models import Campaign
from tests.no_files import NO_FILES


@pytest.mark.parametrize("make", NO_FILES)
def test_an_archive_takes_the_place_of_files_only(
    make: Callable[[Path], None], finished: Campaign, tmp_path: Path
) -> None:
    place = tmp_path / "place"
    make(place)
    before = place.stat()
    with pytest.raises(CommandError, match="no file, but a device, a pipe or a socket"):
        call_command("export_campaign", str(finished.pk), str(place))
    assert os.path.samestat(place.stat(), before)
