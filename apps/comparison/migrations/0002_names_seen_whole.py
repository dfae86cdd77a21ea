import apps.core.names
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('comparison', '0001_from_results'),
    ]

    operations = [
        migrations.AlterField(
            model_name='savedview',
            name='name',
            field=models.CharField(max_length=200, validators=[apps.core.names.check_seen], verbose_name='name'),
        ),
    ]
