import apps.core.names
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('campaigns', '0019_lanes_know_their_addresses'),
    ]

    operations = [
        migrations.AlterField(
            model_name='experiment',
            name='name',
            field=models.CharField(max_length=200, validators=[apps.core.names.check_seen], verbose_name='name'),
        ),
    ]
