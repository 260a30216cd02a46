"""The API against its own description: no case is answered with a failure or with a surprise."""

import os
import re

import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi.checks import (
    allow_header_conformance,
    positive_data_acceptance,
    unsupported_method,
)

from kedge import catalogue
from kedge.interfaces.web.app import ServerOptions, make_app

#: About so many in all; with `KEDGE_SCHEMA_CASES=13000` in the environment some 11,000.
CASES = int(os.environ.get("KEDGE_SCHEMA_CASES", "300"))
#: What a schema cannot say is whether a move is legal; and a route answers for one verb each.
UNFIT = [positive_data_acceptance, unsupported_method, allow_header_conformance]

GAMES = tuple(catalogue.names("page"))

app = make_app(ServerOptions(hosts=(), rate=1e9))
schema = schemathesis.openapi.from_asgi("/api/v1/openapi.json", app)
rejection = schema.config.checks.negative_data_rejection
rejection.expected_statuses = [*rejection.expected_statuses, "413"]
operations = sum(1 for _ in schema.get_all_operations())
sessions = {}  # those that cases are about: their ids, by game


@schema.parametrize()
@settings(max_examples=CASES // operations, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_case_is_answered_as_described(case):
    aim(case)
    answer = case.call(timeout=60)
    case.validate_response(answer, excluded_checks=UNFIT)
    if answer.status_code == 204:
        sessions.clear()


def aim(case):
    """Replace ids and agents of valid form by an existing game and quick agents."""
    path, body = case.path_parameters or {}, case.body
    if re.fullmatch(r"[A-Za-z0-9_-]{22}", str(path.get("id"))):
        path["id"] = session(GAMES[sum(path["id"].encode()) % len(GAMES)])
    for told in (path, body):
        if isinstance(told, dict) and re.fullmatch("[a-z][a-z0-9-]{0,39}", str(told.get("game"))):
            told["game"] = GAMES[sum(told["game"].encode()) % len(GAMES)]
    is_policy = case.operation.path.endswith("/policy") and isinstance(body, dict)
    if is_policy and body.get("dial", body.get("agent")) is None:
        body["dial"] = 0.0


def session(game):
    if game not in sessions:
        begin = schema["/api/v1/sessions"]["POST"]
        told = begin.Case(body={"game": game}, media_type="application/json")
        sessions[game] = told.call().json()["id"]
    return sessions[game]
