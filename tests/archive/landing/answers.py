"""What a stranger is answered about a public campaign."""

import json
import re

from django.test import Client

from apps.campaigns.models import Campaign

# What is drawn anew for each answer holds any three letters now and then.
DRAWN = re.compile(r'(data-csrf="|name="csrfmiddlewaretoken" value=")[^"]+')


def public_answers(client: Client, campaign: Campaign) -> dict[str, str]:
    """Return all that a stranger can ask about a public campaign, with its headers."""
    at = f"/c/{campaign.permanent_id}/"
    addresses = [
        at, f"{at}recipe.yaml", f"{at}experiments/0/samples.csv", f"{at}experiments/9/samples.csv", f"{at}run/",
        f"/api/v1/permanent-ids/{campaign.permanent_id}/", f"/api/v1/permanent-ids/{campaign.permanent_id}/nothing",
        f"/campaigns/{campaign.pk}/", f"/api/v1/campaigns/{campaign.pk}/", f"{at}nothing/", f"{at}?as=nobody",
    ]  # fmt: skip
    shown = {}
    for address in addresses:
        answer = client.get(address)
        body = answer.getvalue() if answer.streaming else answer.content
        shown[address] = f"{json.dumps(dict(answer.headers))}\n{DRAWN.sub('', body.decode())}"
    return shown
