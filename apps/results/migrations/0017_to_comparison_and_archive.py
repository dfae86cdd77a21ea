from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('archive', '0001_from_results_and_reports'),
        ('comparison', '0001_from_results'),
        ('results', '0016_facts_go_with_their_campaign'),
    ]

    # The tables stay what they are and where they are; only the room that they belong to is another.
    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.DeleteModel('ChangePoint'),
                migrations.DeleteModel('ColumnMapping'),
                migrations.DeleteModel('FormerName'),
                migrations.DeleteModel('Import'),
                migrations.DeleteModel('ImportItem'),
                migrations.DeleteModel('RetentionRule'),
                migrations.DeleteModel('SavedSearch'),
                migrations.DeleteModel('SavedView'),
                migrations.DeleteModel('SearchEnd'),
                migrations.DeleteModel('SearchValue'),
                migrations.DeleteModel('SearchEntry'),
                migrations.DeleteModel('SearchMetric'),
            ],
        ),
    ]
