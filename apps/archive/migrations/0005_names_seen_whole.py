import apps.core.names
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('archive', '0004_imports_forget_with_their_campaign'),
    ]

    operations = [
        migrations.AlterField(
            model_name='columnmapping',
            name='name',
            field=models.CharField(max_length=100, validators=[apps.core.names.check_seen], verbose_name='name'),
        ),
        migrations.AlterField(
            model_name='import',
            name='name',
            field=models.CharField(max_length=200, validators=[apps.core.names.check_seen], verbose_name='name'),
        ),
        migrations.AlterField(
            model_name='savedsearch',
            name='name',
            field=models.CharField(max_length=200, validators=[apps.core.names.check_seen], verbose_name='name'),
        ),
    ]
