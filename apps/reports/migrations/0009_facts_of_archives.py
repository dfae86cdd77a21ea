from django.db import migrations

# What came with an archive is told by its runs only; what an agent says still, or other runs rest on, stays its own.
BROUGHT = """
UPDATE agents_factsnapshot snapshot SET archive_ref = campaign.permanent_id
FROM reports_incomingarchive incoming
JOIN campaigns_campaign campaign ON campaign.id = incoming.campaign_id
JOIN campaigns_trial trial ON trial.campaign_id = campaign.id
JOIN campaigns_run run ON run.trial_id = trial.id
JOIN agents_job job ON job.run_ref = run.id
WHERE job.facts_id = snapshot.id
    AND NOT EXISTS (SELECT FROM agents_agent agent WHERE agent.facts_id = snapshot.id)
    AND NOT EXISTS (
        SELECT FROM agents_job other
        JOIN campaigns_run elsewhere ON elsewhere.id = other.run_ref
        JOIN campaigns_trial its ON its.id = elsewhere.trial_id
        WHERE other.facts_id = snapshot.id AND its.campaign_id <> campaign.id
    );
"""


class Migration(migrations.Migration):
    dependencies = [
        ("agents", "0012_facts_of_archives"),
        ("campaigns", "0018_shares_wait_until_they_are_accepted"),
        ("reports", "0008_deliveries_that_wait_for_mails"),
    ]

    operations = [migrations.RunSQL(BROUGHT, migrations.RunSQL.noop)]
