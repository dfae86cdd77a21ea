import apps.core.names
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('testbeds', '0003_people_may_be_gone'),
    ]

    operations = [
        migrations.AlterField(
            model_name='cluster',
            name='name',
            field=models.CharField(max_length=100, validators=[apps.core.names.check_seen], verbose_name='name'),
        ),
        migrations.AlterField(
            model_name='filesystem',
            name='name',
            field=models.CharField(max_length=100, validators=[apps.core.names.check_seen], verbose_name='name'),
        ),
        migrations.AlterField(
            model_name='link',
            name='name',
            field=models.CharField(max_length=100, validators=[apps.core.names.check_seen], verbose_name='name'),
        ),
        migrations.AlterField(
            model_name='site',
            name='name',
            field=models.CharField(max_length=100, validators=[apps.core.names.check_seen], verbose_name='name'),
        ),
        migrations.AlterField(
            model_name='switch',
            name='name',
            field=models.CharField(max_length=100, validators=[apps.core.names.check_seen], verbose_name='name'),
        ),
        migrations.AlterField(
            model_name='testbed',
            name='name',
            field=models.CharField(max_length=100, validators=[apps.core.names.check_seen], verbose_name='name'),
        ),
    ]
