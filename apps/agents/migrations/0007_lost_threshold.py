from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("agents", "0006_order_of_processes")]

    operations = [
        migrations.AddField(
            model_name="listener",
            name="threshold",
            field=models.DateTimeField(null=True),
        ),
    ]
