"""The base of pages over what teams own: signed in, scoped to the person's teams, roles by action.

Addresses are named ``<app>:<model>_<action>`` (`url_base` changes the part before the action), where the action is
one of list, create, detail, update, delete, clone; a page links to those that exist.
"""

from apps.accounts.pages.base import TeamPage, said
from apps.accounts.pages.deletion import DeletePage
from apps.accounts.pages.edits import ClonePage, CreatePage, UpdatePage
from apps.accounts.pages.lists import DetailPage, ListPage

__all__ = ["ClonePage", "CreatePage", "DeletePage", "DetailPage", "ListPage", "TeamPage", "UpdatePage", "said"]
