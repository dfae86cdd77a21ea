from django.db import migrations

# Until then they ended only when somebody verified the finding anew.
_END = """
UPDATE tuning_verification SET verdict = 'undecided', judged_at = updated_at
 WHERE verdict = 'open' AND campaign_id IS NULL
"""


class Migration(migrations.Migration):
    dependencies = [("tuning", "0001_tables")]

    operations = [migrations.RunSQL(_END, migrations.RunSQL.noop)]
