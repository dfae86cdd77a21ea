"""A TLS server before the real one, with a certificate that nobody signed, and a proxy that only knows CONNECT."""

import hashlib
import socket
import ssl
import subprocess
import threading
from pathlib import Path


class Relay:
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

    def attend(self, client: socket.socket) -> None:
        """Carry on one connection."""
        raise NotImplementedError


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
