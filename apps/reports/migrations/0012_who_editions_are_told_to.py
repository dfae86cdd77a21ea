from django.db import migrations

# Of a campaign that is gone the editions know the permanent id: it is the first that they rest on.
NAME = """
UPDATE reports_report report SET of_campaign = campaign.permanent_id
FROM campaigns_campaign campaign WHERE campaign.id = report.campaign_id;
UPDATE reports_report report SET of_campaign = split_part(edition.rests_on->>0, ':', 2)
FROM reports_edition edition
WHERE edition.report_id = report.id AND report.kind = 'campaign' AND report.of_campaign = ''
    AND edition.rests_on->>0 LIKE 'campaign:%' AND length(edition.rests_on->>0) BETWEEN 10 AND 29;
INSERT INTO reports_editionsource (edition_id, of_campaign)
SELECT edition.id, report.of_campaign FROM reports_edition edition
JOIN reports_report report ON report.id = edition.report_id WHERE report.of_campaign <> ''
UNION
SELECT edition.id, split_part(split_part(ref, ':', 2), '/', 1)
FROM reports_edition edition, jsonb_array_elements_text(edition.rests_on) ref
WHERE ref !~ '^https?:' AND length(split_part(split_part(ref, ':', 2), '/', 1)) BETWEEN 1 AND 20;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("campaigns", "0018_shares_wait_until_they_are_accepted"),
        ("reports", "0011_told_to_who_sees_all_of_it"),
    ]

    operations = [migrations.RunSQL(NAME, migrations.RunSQL.noop)]
