"""A mail server of the test's own: it speaks SMTP (RFC 5321) on a port of this machine and keeps what it takes."""

import email
import email.policy
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage

OK = "250 OK"


@dataclass(frozen=True)
class Taken:
    """A mail as it came: who the envelope names, and the mail itself."""

    sender: str
    recipients: list[str]
    mail: EmailMessage


@dataclass
class Post:
    """What the server does and has: `answers` are what it says to RCPT and DATA of an address instead of "250 OK"."""

    port: int
    taken: list[Taken] = field(default_factory=list)
    rcpt: dict[str, str] = field(default_factory=dict)
    data: dict[str, str] = field(default_factory=dict)
    sender: str = OK


@contextmanager
def serving() -> Iterator[Post]:
    """Serve until the end."""
    with _Server(("127.0.0.1", 0), _Dialogue) as server:
        server.post = Post(server.server_address[1])
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server.post
        finally:
            server.shutdown()
            thread.join()


class _Server(socketserver.TCPServer):
    post: Post


class _Dialogue(socketserver.StreamRequestHandler):
    """One connection, command by command."""

    server: _Server

    def handle(self) -> None:
        """Answer each command until the other side is done."""
        post = self.server.post
        sender, recipients = "", list[str]()
        self._say("220 post.example.org ESMTP")
        while line := self.rfile.readline():
            verb, _space, rest = line.decode().strip().partition(" ")
            if verb.upper() == "EHLO":
                self._say("250-post.example.org")
                self._say("250 8BITMIME")
            elif verb.upper() == "MAIL":
                sender, recipients = _address(rest), []
                self._say(post.sender)
            elif verb.upper() == "RCPT":
                answer = post.rcpt.get(_address(rest), OK)
                recipients += [_address(rest)] if answer == OK else []
                self._say(answer)
            elif verb.upper() == "DATA":
                self._say("354 Go on")
                mail = self._mail()
                answer = post.data.get(recipients[0], OK)
                if answer == OK:
                    post.taken.append(Taken(sender, recipients, mail))
                self._say(answer)
            elif verb.upper() == "QUIT":
                self._say("221 Bye")
                return
            else:
                self._say(OK if verb.upper() in ("RSET", "NOOP") else "502 Not known")

    def _say(self, text: str) -> None:
        self.wfile.write(f"{text}\r\n".encode())

    def _mail(self) -> EmailMessage:
        lines: list[bytes] = []
        while (line := self.rfile.readline()) != b".\r\n":
            # What begins with a dot was given another: RFC 5321, 4.5.2.
            lines.append(line.removeprefix(b"."))
        return email.message_from_bytes(b"".join(lines), policy=email.policy.default)


def _address(rest: str) -> str:
    """Return the address in `TO:<a@example.org> SIZE=9`."""
    return rest.partition("<")[2].partition(">")[0]
