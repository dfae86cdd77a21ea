from django.apps import AppConfig


class ResultsConfig(AppConfig):
    name = "apps.results"

    def ready(self):
        from apps.campaigns.signals import runs_deleting
        from apps.results.deletion import forget_printed

        runs_deleting.connect(forget_printed, dispatch_uid="apps.results")
