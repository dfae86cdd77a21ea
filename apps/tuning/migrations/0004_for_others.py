from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('tuning', '0003_told_by'),
    ]

    operations = [
        migrations.AddField(
            model_name='analysis',
            name='for_others',
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
