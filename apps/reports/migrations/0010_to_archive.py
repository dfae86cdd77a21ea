from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('archive', '0001_from_results_and_reports'),
        ('reports', '0009_facts_of_archives'),
    ]

    # The tables stay what they are and where they are; only the room that they belong to is another.
    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.DeleteModel('IncomingArchive'),
            ],
        ),
    ]
