import apps.core.names
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('reports', '0012_who_editions_are_told_to'),
    ]

    operations = [
        migrations.AlterField(
            model_name='schedule',
            name='name',
            field=models.CharField(max_length=200, validators=[apps.core.names.check_seen], verbose_name='name'),
        ),
    ]
