import apps.core.names
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0004_mails_counted_and_agreed_to'),
    ]

    operations = [
        migrations.AlterField(
            model_name='apitoken',
            name='name',
            field=models.CharField(max_length=100, validators=[apps.core.names.check_seen], verbose_name='name'),
        ),
    ]
