"""Set-up: a person with a role in a team, and the random password they sign in with."""

from argparse import BooleanOptionalAction
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser

from apps.accounts import services
from apps.accounts.models import Role
from apps.core.commands import BaseCommand


class Command(BaseCommand):
    """Makes what is missing; the password of someone who is there changes only if one is given."""

    help = "Make a person, a team and the person's role in it. A new person's random password is printed once."

    def add_arguments(self, parser: CommandParser) -> None:
        """Ask for who and where."""
        parser.add_argument("--username", required=True)
        parser.add_argument("--team", required=True, help="the team's name; it is made if it is not there")
        parser.add_argument("--role", choices=Role.values, default=Role.MANAGER.value)
        parser.add_argument(
            "--password", default="", help="a password to set; without it a new person gets a random one"
        )
        parser.add_argument(
            "--renew-unused",
            action="store_true",
            help="a new random password, too, for somebody who is there and has never signed in",
        )
        parser.add_argument(
            "--administrator",
            action=BooleanOptionalAction,
            help="of the service: sees and may do everything, in all teams, and opens /admin/",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Make them and print the sign-in."""
        try:
            account = services.ensure_account(
                username=options["username"],
                team_name=options["team"],
                role=Role(options["role"]),
                password=options["password"],
                is_administrator=options["administrator"],
                renews_unused=options["renew_unused"],
            )
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        self.stdout.write(f"username: {account.user.username}")
        self.stdout.write(f"team: {account.team.name} ({account.team.slug}), {options['role']}")
        if account.user.is_superuser:
            self.stdout.write("administrator of the service: sees and may do everything")
        if account.password:
            self.stdout.write(f"password: {account.password}")
