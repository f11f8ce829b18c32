# Uses the client that openapi-python-client makes; test/generators.suite.ts says what a program does.
import os
import re
from http import HTTPStatus

from api import AuthenticatedClient
from api.api.tokens import login
from api.api.users import create_user, delete_user, list_users, read_user, rename_user
from api.models import ErrorMessage, Login, NewName, Token, User, UserFields

EMAIL = "ada+lovelace@example.com"


def client_with(token: str) -> AuthenticatedClient:
    return AuthenticatedClient(
        os.environ["URL"], token, raise_on_unexpected_status=True
    )


users = client_with(os.environ["TOKEN"])

created = create_user.sync_detailed(client=users, body=UserFields("Ada", EMAIL))
assert created.status_code == HTTPStatus.CREATED
ada = created.parsed
assert isinstance(ada, User)
assert created.headers["Location"] == f"/users/{ada.id}"
assert (ada.name, ada.email) == ("Ada", EMAIL)
taken = create_user.sync_detailed(client=users, body=UserFields("Ada", EMAIL))
assert taken.status_code == HTTPStatus.BAD_REQUEST
assert taken.parsed == ErrorMessage(f"a user with email `{EMAIL}` already exists", "email_taken")
grace = create_user.sync(client=users, body=UserFields("Grace", "grace@example.com"))

read = read_user.sync_detailed(ada.id, client=users)
assert read.parsed == ada
etag = read.headers["ETag"]
same = read_user.sync_detailed(ada.id, client=users, if_none_match=etag)
assert (same.status_code, same.parsed) == (HTTPStatus.NOT_MODIFIED, None)
assert same.headers["ETag"] == etag

renamed = rename_user.sync_detailed(ada.id, client=users, body=NewName("Augusta"), if_match=etag)
assert renamed.status_code == HTTPStatus.NO_CONTENT
changed = rename_user.sync_detailed(ada.id, client=users, body=NewName("Ada"), if_match=etag)
assert changed.status_code == HTTPStatus.PRECONDITION_FAILED
assert changed.parsed == ErrorMessage(
    "the precondition in If-Match or If-None-Match failed", "precondition_failed"
)
ada.name = "Augusta"
assert read_user.sync(ada.id, client=users) == ada

assert list_users.sync(client=users) == [ada, grace]
first = list_users.sync_detailed(client=users, limit=1)
assert first.parsed == [ada]
after = re.search(r"after=(\w+)", first.headers["Link"])
assert after
second = list_users.sync_detailed(client=users, limit=1, after=after[1])
assert second.parsed == [grace]
assert "Link" not in second.headers

token = login.sync(client=users, body=Login(EMAIL))
assert isinstance(token, Token)
assert list_users.sync(client=client_with(token.token), email=EMAIL) == [ada]
unknown = login.sync_detailed(client=users, body=Login("nobody@example.com"))
assert unknown.status_code == HTTPStatus.UNAUTHORIZED
assert unknown.parsed == ErrorMessage("no user has this email", "email_not_found")
refused = list_users.sync_detailed(client=client_with("none"))
assert refused.status_code == HTTPStatus.UNAUTHORIZED
assert refused.parsed == ErrorMessage("a valid bearer token is required", "unauthorized")

deleted = delete_user.sync_detailed(ada.id, client=users)
assert deleted.status_code == HTTPStatus.NO_CONTENT
gone = read_user.sync_detailed(ada.id, client=users)
assert gone.status_code == HTTPStatus.NOT_FOUND
assert gone.parsed == ErrorMessage("no user has this id", "a_later_code")
