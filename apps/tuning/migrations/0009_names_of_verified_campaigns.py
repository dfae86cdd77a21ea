from django.db import migrations

NAME = """
UPDATE tuning_verification verification SET of_campaign = campaign.permanent_id
FROM campaigns_campaign campaign WHERE campaign.id = verification.campaign_id;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("campaigns", "0018_shares_wait_until_they_are_accepted"),
        ("tuning", "0008_campaigns_of_verifications"),
    ]

    operations = [migrations.RunSQL(NAME, migrations.RunSQL.noop)]
