from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("campaigns", "0013_bounded_texts"),
    ]

    operations = [
        migrations.AddField(
            model_name="reservation",
            name="fenced_until",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddIndex(
            model_name="reservation",
            index=models.Index(
                condition=models.Q(("fenced_until__isnull", False)), fields=["fenced_until"], name="fences"
            ),
        ),
    ]
