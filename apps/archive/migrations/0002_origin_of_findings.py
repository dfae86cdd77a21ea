from django.db import migrations

# What was made before its archive was sent came with it. Of archives that were forgotten since nothing is known.
BROUGHT = """
CREATE TEMPORARY TABLE brought ON COMMIT DROP AS
SELECT DISTINCT ON (campaign_id) campaign_id, created_at AS at,
    left(coalesce(nullif(preview ->> 'team', ''), name), 200) AS origin
FROM reports_incomingarchive WHERE campaign_id IS NOT NULL AND state = 'done' ORDER BY campaign_id, created_at;
UPDATE tuning_finding finding SET imported_from = brought.origin
FROM brought WHERE finding.campaign_id = brought.campaign_id AND finding.created_at < brought.at;
UPDATE tuning_verification verification SET imported_from = brought.origin
FROM tuning_finding finding JOIN brought ON brought.campaign_id = finding.campaign_id
WHERE finding.id = verification.finding_id AND verification.created_at < brought.at;
DROP TABLE brought;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("archive", "0001_from_results_and_reports"),
        ("tuning", "0007_imported_from"),
    ]

    operations = [migrations.RunSQL(BROUGHT, migrations.RunSQL.noop)]
