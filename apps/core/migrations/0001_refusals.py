from django.db import migrations

from apps.core import immutability


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [migrations.RunSQL(immutability.PREPARE, immutability.FORGET)]
