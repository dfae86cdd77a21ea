from django.db import migrations, models

from apps.core import immutability


class Migration(migrations.Migration):

    initial = True
    # What a database of before the first release has instead.
    replaces = [
        ("core", "0001_refusals"),
        ("core", "0002_rows_set_aside"),
        ("core", "0003_last_changes"),
        ("core", "0004_cause_of_setting_aside"),
    ]

    dependencies = [
    ]

    operations = [
        migrations.RunSQL(immutability.PREPARE, immutability.FORGET),
        migrations.CreateModel(
            name='LastChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=100, verbose_name='kind')),
                ('row_id', models.BigIntegerField(verbose_name='row')),
                ('username', models.CharField(max_length=150, verbose_name='user')),
                ('at', models.DateTimeField(db_index=True, verbose_name='when')),
            ],
            options={
                'verbose_name': 'last change',
                'verbose_name_plural': 'last changes',
                'constraints': [models.UniqueConstraint(fields=('kind', 'row_id'), name='one_last_change_per_row')],
            },
        ),
        migrations.CreateModel(
            name='SetAside',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('work', models.CharField(max_length=60, verbose_name='work')),
                ('row_id', models.BigIntegerField(default=0, verbose_name='row')),
                ('reason', models.TextField(max_length=2000, verbose_name='reason')),
                ('cause', models.CharField(db_default='other', default='other', editable=False, max_length=10)),
                ('attempts', models.PositiveIntegerField(default=0, verbose_name='attempts')),
                ('first_at', models.DateTimeField(verbose_name='first failed')),
                ('last_at', models.DateTimeField(verbose_name='last failed')),
                ('retry_at', models.DateTimeField(verbose_name='tried again at')),
            ],
            options={
                'verbose_name': 'row set aside',
                'verbose_name_plural': 'rows set aside',
                'ordering': ['-last_at', '-pk'],
                'constraints': [models.UniqueConstraint(fields=('work', 'row_id'), name='one_setting_aside_per_row')],
            },
        ),
    ]
