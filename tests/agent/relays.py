"""What stands between an agent and its server: TLS with a certificate that nobody signed, and two proxies."""

import abc
import contextlib
import enum
import hashlib
import json
import re
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

_LENGTH = re.compile(rb"content-length: *([0-9]+)", re.IGNORECASE)
_LOOK_S = 0.1


class Relay(abc.ABC):
    """Takes connections on a port of this machine, each in a thread of its own, until it is closed."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        """Take no more."""
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                client, _address = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._attend_quietly, args=(client,), daemon=True).start()

    def _attend_quietly(self, client: socket.socket) -> None:
        try:
            self.attend(client)
        except OSError:
            client.close()

    @abc.abstractmethod
    def attend(self, client: socket.socket) -> None:
        """Carry on one connection."""


class TlsServer(Relay):
    """The server of a port behind a self-signed certificate for a name."""

    def __init__(self, folder: Path, port: int, name: str = "fathom.test") -> None:
        self.certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
        words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        words += ["-keyout", str(key), "-out", str(self.certificate), "-days", "2", "-subj", f"/CN={name}"]
        subprocess.run([*words, "-addext", f"subjectAltName=DNS:{name}"], check=True, capture_output=True)
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(self.certificate, key)
        self._behind = port
        super().__init__()

    @property
    def pin(self) -> str:
        """Return the SHA-256 of the certificate."""
        return hashlib.sha256(ssl.PEM_cert_to_DER_cert(self.certificate.read_text())).hexdigest()

    def attend(self, client: socket.socket) -> None:
        """Hand what is said on, unencrypted."""
        inner = self._context.wrap_socket(client, server_side=True)
        _join(inner, socket.create_connection(("127.0.0.1", self._behind)))


class Proxy(Relay):
    """Joins its clients with whom they name, `hosts` being where those are; keeps what they asked for."""

    def __init__(self, hosts: dict[str, int]) -> None:
        self.asked: list[list[str]] = []
        self._hosts = hosts
        super().__init__()

    def attend(self, client: socket.socket) -> None:
        """Read the request, and join both ends."""
        text = b""
        while b"\r\n\r\n" not in text:
            text += client.recv(4096)
        lines = text.decode().split("\r\n")
        self.asked.append(lines)
        method, target, _version = lines[0].split()
        assert method == "CONNECT"
        there = socket.create_connection(("127.0.0.1", self._hosts[target]))
        client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        _join(client, there)


class Line(enum.Enum):
    """What a line does with what is sent over it."""

    WHOLE = "whole"
    # Who calls is turned away, and who spoke is cut off.
    CUT = "cut"
    # Requests are lost on their way, and nobody says so.
    LOSES_REQUESTS = "loses requests"
    # The server does what it is asked; its answers are cut off in their headers, and in their bodies.
    CUTS_HEADERS = "cuts headers"
    CUTS_BODIES = "cuts bodies"
    # The same, and nothing of them comes.
    DROPS_ANSWERS = "drops answers"
    # The server does what it is asked; its answers are lost.
    LOSES_ANSWERS = "loses answers"


# How much (bytes) of an answer comes over a line that breaks meanwhile.
_PARTS: dict[Line, Callable[[bytes], int]] = {
    Line.CUTS_HEADERS: lambda answer: answer.index(b"\r\n\r\n") // 2,
    Line.CUTS_BODIES: lambda answer: len(answer) - 2,
    Line.DROPS_ANSWERS: lambda answer: 0,
}


class MessageProxy(Relay):
    """Passes HTTP messages on to a port, as its `line` and `delay_s` allow, and can send a poll of before again."""

    def __init__(self, port: int) -> None:
        self.polls: list[bytes] = []
        self.delay_s = 0.0
        # So many answers were cut off.
        self.cut = 0
        self.line = Line.WHOLE
        self._to = port
        self._open: set[socket.socket] = set()
        super().__init__()

    def break_line(self, line: Line) -> None:
        """Have the line be as `line` says from now on, also for those who speak over it now."""
        self.line = line
        for sock in list(self._open):
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def repeat(self, poll: bytes) -> dict[str, object]:
        """Send an old poll again and return the server's answer."""
        with socket.create_connection(("127.0.0.1", self._to), timeout=30) as server:
            server.sendall(poll)
            return json.loads(_message(server).partition(b"\r\n\r\n")[2])

    def attend(self, client: socket.socket) -> None:
        """Pass requests on and answers back until one side, or the line, ends."""
        with client:
            if self.line is Line.CUT:
                return
            self._open.add(client)
            try:
                with socket.create_connection(("127.0.0.1", self._to)) as server:
                    while (request := _message(client)) and self._pass_on(client, server, request):
                        continue
            finally:
                self._open.discard(client)

    def _pass_on(self, client: socket.socket, server: socket.socket, request: bytes) -> bool:
        if b"/agent/v1/poll " in request.partition(b"\r\n")[0]:
            self.polls.append(request)
        time.sleep(self.delay_s)
        if self.line is Line.LOSES_REQUESTS:
            return self._keep_silent()
        server.sendall(self.sent(request))
        answer = _message(server)
        if self.line is Line.LOSES_ANSWERS:
            return self._keep_silent()
        if self.line in _PARTS:
            self.cut += 1
            client.sendall(answer[: _PARTS[self.line](answer)])
            return False
        # Without an answer the server closed a connection that was idle.
        return bool(answer) and client.sendall(self.rewritten(request, answer)) is None

    def sent(self, request: bytes) -> bytes:
        """Return what the server gets for a request: the request, unless a subclass knows better."""
        return request

    def rewritten(self, request: bytes, answer: bytes) -> bytes:
        """Return what the client gets for an answer: the answer, unless a subclass knows better."""
        return answer

    def _keep_silent(self) -> bool:
        """Leave the client waiting until the line is whole again; what it then sends has to be sent anew."""
        while self.line is not Line.WHOLE:
            time.sleep(_LOOK_S)
        return False


def _message(sock: socket.socket) -> bytes:
    """Return the next whole HTTP message of a connection, b"" at its end."""
    text = b""
    while b"\r\n\r\n" not in text:
        part = sock.recv(65536)
        if not part:
            return b""
        text += part
    head = text.partition(b"\r\n\r\n")[0]
    length = _LENGTH.search(head)
    whole = len(head) + 4 + (int(length[1]) if length else 0)
    while len(text) < whole:
        part = sock.recv(65536)
        if not part:
            return b""
        text += part
    return text


def _join(one: socket.socket, other: socket.socket) -> None:
    back = threading.Thread(target=_copy, args=(other, one), daemon=True)
    back.start()
    _copy(one, other)
    back.join()


def _copy(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            sink.sendall(data)
    except OSError:
        pass
    for end in (source, sink):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            continue
