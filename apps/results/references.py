"""What is kept of a campaign's measurements when it is deleted: this is what campaigns import at the start."""

from apps.campaigns.services import deletion
from apps.results.digests import digests_of

deletion.keep_digests(digests_of)
