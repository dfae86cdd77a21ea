"""Where tools are used: the experiments of campaigns that have them."""

from collections import defaultdict
from collections.abc import Sequence

from django.db.models import F
from django.urls import reverse

from apps.accounts.models import User
from apps.campaigns.models import Campaign, Experiment
from apps.campaigns.queries.visibility import visible
from apps.toolbox.uses import Use

# Of very many experiments the latest are listed.
MOST = 100


def uses_of_tools(*, slugs: Sequence[str], user: User) -> dict[str, list[Use]]:
    """Return {slug: experiments with this tool}, the latest first, of the campaigns that the user may see."""
    rows = visible(Experiment.objects.filter(tool__in=slugs), user, path="campaign")
    uses: dict[str, list[Use]] = defaultdict(list)
    values = rows.annotate(of=F("campaign__name"), state=F("campaign__state")).order_by("-pk")
    for tool, name, pk, campaign, state in values.values_list("tool", "name", "campaign_id", "of", "state")[:MOST]:
        address = reverse("campaigns:campaign_detail", kwargs={"pk": pk})
        uses[tool].append(Use(f"{campaign}: {name}", address, str(Campaign.State(state).label)))
    return dict(uses)
