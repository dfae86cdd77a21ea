import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('archive', '0006_hidden_recipes'),
        ('campaigns', '0006_lanes_by_resource'),
    ]

    operations = [
        migrations.DeleteModel(name='HiddenRecipe'),
        migrations.CreateModel(
            name='KeptText',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('part', models.CharField(max_length=50)),
                ('language', models.CharField(max_length=20)),
                ('hidden', models.BooleanField()),
                ('digest', models.CharField(max_length=64)),
                ('text', models.TextField(max_length=16000000)),
                ('written_at', models.DateTimeField(db_index=True)),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='campaigns.campaign')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('campaign', 'part', 'language', 'hidden'), name='one_kept_text_per_part')],
            },
        ),
    ]
