"""Tokens of a server of identities are accepted like keys, if they are meant for this server."""

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm
from starlette.testclient import TestClient

from mnemark.errors import NotFoundError, UsageError
from mnemark_server import grants, issuer, tenants
from mnemark_server.database import connect
from server.conftest import MakeClient

HERE = "https://memory.example.org"
RSA_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC_KEY = ec.generate_private_key(ec.SECP256R1())
OTHER_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)


class Identities:
    """A server of identities that publishes its keys, and counts how often it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.keys = [
            json.loads(RSAAlgorithm.to_jwk(RSA_KEY.public_key())) | {"kid": "rsa", "use": "sig"},
            json.loads(ECAlgorithm.to_jwk(EC_KEY.public_key())) | {"kid": "ec", "use": "sig"},
        ]
        asked = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.asked.append(self.path)
                found = asked.answer(self.path)
                self.send_response(200 if found else 404)
                self.end_headers()
                self.wfile.write(json.dumps(found or {}).encode())

            def log_message(self, *_: object) -> None:
                """Stay quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, path: str) -> dict[str, Any] | None:
        if path == "/.well-known/openid-configuration":
            return {"issuer": self.url, "jwks_uri": f"{self.url}/keys"}
        return {"keys": self.keys} if path == "/keys" else None

    def token(self, *, key: Any = RSA_KEY, kid: str = "rsa", algorithm: str = "RS256", **changes: Any) -> str:
        claims = {
            "iss": self.url, "sub": "8f3c", "aud": f"{HERE}/mcp", "exp": time.time() + 300,
            "scope": "openid memory:read memory:write",
        } | changes  # fmt: skip
        kept = {name: value for name, value in claims.items() if value is not None}
        return jwt.encode(kept, key, algorithm=algorithm, headers={"kid": kid})


@pytest.fixture
def identities() -> Iterator[Identities]:
    found = Identities()
    yield found
    found.server.shutdown()
    found.server.server_close()


@pytest.fixture
def client(url: str, new_client: MakeClient, identities: Identities) -> TestClient:
    """A node that accepts tokens; "8f3c" is let into the memory of "ann"."""
    with connect(url) as connection:
        grants.let_in(connection, "ann", identities.url, "8f3c")
    return new_client(url=HERE, issuer=identities.url)


def ask(client: TestClient, token: str, path: str = "/v1/facts", **body: Any) -> Any:
    return client.post(path, json=body, headers={"authorization": f"Bearer {token}"})


def test_a_client_finds_the_way_to_a_token(client: TestClient, identities: Identities) -> None:
    refused = client.post("/mcp", json={})
    assert refused.status_code == 401
    said = refused.headers["www-authenticate"]
    assert said == f'Bearer resource_metadata="{HERE}/.well-known/oauth-protected-resource/mcp"'
    found = client.get("/.well-known/oauth-protected-resource/mcp").json()
    assert found["resource"] == f"{HERE}/mcp"
    assert found["authorization_servers"] == [identities.url]
    token = identities.token()
    assert ask(client, token, "/v1/remember", predicate="city", value="Lisbon").status_code == 200
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "memory_search", "arguments": {"query": "city"}}}  # fmt: skip
    headers = {"authorization": f"Bearer {token}", "accept": "application/json, text/event-stream"}
    assert "Lisbon" in client.post("/mcp", json=body, headers=headers).text


def test_what_is_no_token_for_this_server_is_refused(client: TestClient, identities: Identities) -> None:
    assert ask(client, identities.token()).status_code == 200
    assert ask(client, identities.token(key=EC_KEY, kid="ec", algorithm="ES256")).status_code == 200
    header, claims, signature = identities.token().split(".")
    public = json.dumps(identities.keys[0])
    wrong = {
        "over": identities.token(exp=time.time() - 60),
        "no end": identities.token(exp=None),
        "for another server": identities.token(aud="https://other.example.org/mcp"),
        "for none": identities.token(aud=None),
        "of another issuer": identities.token(iss="https://other.example.org"),
        "of nobody": identities.token(sub=None),
        "of somebody who has no memory": identities.token(sub="bob"),
        "signed by another": identities.token(key=OTHER_KEY),
        "with a key that is not there": identities.token(kid="gone"),
        "not signed": identities.token(key="", algorithm="none"),
        "signed with what is public": identities.token(key=public * 2, algorithm="HS256"),
        "changed": f"{header}.{claims[:-4]}AAAA.{signature}",
        "cut": f"{header}.{claims}.",
        "no token": "a.b.c",
    }  # fmt: skip
    for what, token in wrong.items():
        assert ask(client, token).status_code == 401, what
    assert len(identities.asked) < 10, "its keys are not asked for again with each token"


def test_a_token_allows_what_its_scopes_say(client: TestClient, identities: Identities) -> None:
    for scope, reads, writes in (
        ("memory:read", 200, 403), ("memory:write", 200, 200), ("openid", 403, 403), (None, 403, 403),
        (["memory:read"], 200, 403),
    ):  # fmt: skip
        token = identities.token(scope=scope)
        assert ask(client, token).status_code == reads, scope
        answer = ask(client, token, "/v1/remember", predicate="city", value="Lisbon")
        assert answer.status_code == writes, scope
        if writes == 403:
            assert 'error="insufficient_scope"' in answer.headers["www-authenticate"]
            assert "memory:write" in answer.headers["www-authenticate"]


def test_whom_a_memory_lets_in_can_be_changed(client: TestClient, identities: Identities, url: str) -> None:
    with connect(url) as connection:
        with pytest.raises(UsageError, match="has a memory already"):
            grants.let_in(connection, "bob", identities.url, "8f3c")
        grants.keep_out(connection, "ann", identities.url, "8f3c")
    assert ask(client, identities.token()).status_code == 401
    with connect(url) as connection:
        grants.let_in(connection, "bob", identities.url, "8f3c")
    assert ask(client, identities.token()).status_code == 200
    with connect(url) as connection:
        assert grants.people(connection, "ann") == []
        with pytest.raises(NotFoundError):
            grants.keep_out(connection, "ann", identities.url, "8f3c")


def test_keys_work_while_the_issuer_is_away(client: TestClient, identities: Identities, url: str) -> None:
    identities.server.shutdown()
    identities.server.server_close()
    with connect(url) as connection:
        key = tenants.add_key(connection, "ann", "laptop")
    assert ask(client, identities.token()).status_code == 503
    assert ask(client, key).status_code == 200


def test_made_up_tokens_keep_nobody_waiting_while_the_issuer_stands_still(
    client: TestClient, identities: Identities, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with connect(url) as connection:
        key = tenants.add_key(connection, "ann", "laptop")
    goes_on = threading.Event()
    monkeypatch.setattr(identities, "answer", lambda _: {} if goes_on.wait(6) else None)
    with ThreadPoolExecutor(40) as threads:  # more than look up keys
        answers = [threads.submit(ask, client, identities.token(kid=f"{n}")) for n in range(40)]
        wait(answers, 1, FIRST_COMPLETED)
        began = time.monotonic()
        assert ask(client, key).status_code == 200
        seconds = time.monotonic() - began
        goes_on.set()
    assert seconds < 2
    assert {one.result().status_code for one in answers} == {503}
    assert len(identities.asked) == 2


@pytest.mark.parametrize("address", ["", "memory.example.org", "http://memory.example.org", "ftp://x"])
def test_what_is_no_safe_address_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match="https"):
        issuer.Issuer(address, HERE)
    with pytest.raises(UsageError, match="https"):
        issuer.Issuer("https://id.example.org", address)
