import apps.core.names
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('toolbox', '0002_people_may_be_gone'),
    ]

    operations = [
        migrations.AlterField(
            model_name='teamtool',
            name='name',
            field=models.CharField(max_length=100, validators=[apps.core.names.check_seen], verbose_name='name'),
        ),
    ]
