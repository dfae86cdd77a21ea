from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('reports', '0003_told_by'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='rendering',
            name='one_rendering_of_an_edition',
        ),
        migrations.AddField(
            model_name='rendering',
            name='for_others',
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
        migrations.AddConstraint(
            model_name='rendering',
            constraint=models.UniqueConstraint(condition=models.Q(('edition__isnull', False)), fields=('edition', 'format', 'for_others'), name='one_rendering_of_an_edition'),
        ),
    ]
