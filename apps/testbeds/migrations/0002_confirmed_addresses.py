import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

# What stands in an inventory at the upgrade counts as confirmed: sites that run go on measuring between the addresses
# that they measured between so far. Who entered each is not known any more, so none of them has a name.
CONFIRM = "UPDATE testbeds_nodeaddress SET confirmed_at = now()"


class Migration(migrations.Migration):

    dependencies = [
        ('testbeds', '0001_tables'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='nodeaddress',
            name='confirmed_at',
            field=models.DateTimeField(blank=True, editable=False, null=True, verbose_name='confirmed'),
        ),
        migrations.AddField(
            model_name='nodeaddress',
            name='reported_at',
            field=models.DateTimeField(blank=True, editable=False, null=True, verbose_name='reported'),
        ),
        migrations.AddField(
            model_name='nodeaddress',
            name='confirmed_by',
            field=models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='confirmed by'),
        ),
        migrations.RunSQL(CONFIRM, migrations.RunSQL.noop),
    ]
