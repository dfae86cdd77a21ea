from django.db import migrations


class Migration(migrations.Migration):
    """Files for readers of other teams are made anew: those of before hold remarks that rest on what agents told."""

    dependencies = [
        ('reports', '0004_renderings_for_others'),
    ]

    operations = [
        migrations.RunSQL('DELETE FROM reports_rendering WHERE for_others', migrations.RunSQL.noop),
    ]
