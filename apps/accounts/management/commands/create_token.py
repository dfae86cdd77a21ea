"""Set-up: an API token of a person, for scripts that have no browser."""

from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from apps.accounts import services
from apps.accounts.models import ApiToken, User
from apps.core.commands import BaseCommand


class Command(BaseCommand):
    """Prints the token's text and nothing else."""

    help = "Make an API token and print it, this once."

    def add_arguments(self, parser: CommandParser) -> None:
        """Ask for whom and what for."""
        parser.add_argument("--username", required=True)
        parser.add_argument("--name", required=True, help="what it is for")
        parser.add_argument("--scope", choices=ApiToken.Scope.values, default=ApiToken.Scope.WRITE.value)

    def handle(self, *args: Any, **options: Any) -> None:
        """Make and print it."""
        owner = User.objects.filter(username=options["username"], is_active=True).first()
        if owner is None:
            raise CommandError(f"Nobody is called {options['username']}: make the account first (create_account).")
        try:
            _, text = services.issue_token(
                user=owner, name=options["name"], scope=options["scope"], now=timezone.now()
            )
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        self.stdout.write(text)
