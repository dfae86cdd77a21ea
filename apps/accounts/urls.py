"""Pages."""

from django.contrib.auth.views import LogoutView
from django.urls import path

from apps.accounts.views import invitations, mail, people, teams, tokens

app_name = "accounts"
urlpatterns = [
    path("login/", people.SignIn.as_view(), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("password/", people.ChangePassword.as_view(), name="password"),
    path("profile/", people.Profile.as_view(), name="profile"),
    path("language/", people.language, name="language"),
    path("theme/", people.theme, name="theme"),
    path("mail/confirm/", mail.confirm, name="mail_confirm"),
    path("mail/stop/", mail.stop, name="mail_stop"),
    path("teams/", teams.team_list, name="teams"),
    path("teams/new/", teams.team_create, name="team_create"),
    path("teams/<slug:slug>/", teams.team_page, name="team"),
    path("teams/<slug:slug>/edit/", teams.team_update, name="team_update"),
    path("teams/<slug:slug>/invitations/", invitations.invite, name="invite"),
    path("teams/<slug:slug>/invitations/<int:pk>/withdraw/", invitations.withdraw, name="invitation_withdraw"),
    path("teams/<slug:slug>/members/<int:pk>/role/", teams.member_role, name="member_role"),
    path("teams/<slug:slug>/members/<int:pk>/remove/", teams.member_remove, name="member_remove"),
    path("invitations/", invitations.own_list, name="invitations"),
    path("invitations/<int:pk>/accept/", invitations.accept, name="invitation_accept"),
    path("invitations/<int:pk>/decline/", invitations.decline, name="invitation_decline"),
    path("tokens/", tokens.token_list, name="tokens"),
    path("tokens/new/", tokens.token_create, name="token_create"),
    path("tokens/<int:pk>/revoke/", tokens.token_revoke, name="token_revoke"),
]
