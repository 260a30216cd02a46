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

from kedge.interfaces.web.app import ServerOptions, make_app

#: In all. `KEDGE_SCHEMA_CASES=10000 pytest tests/interfaces/web/test_schema.py` asks more.
CASES = int(os.environ.get("KEDGE_SCHEMA_CASES", "300"))
#: What a schema cannot say is whether a move is legal; and a route answers for one verb each.
UNFIT = [positive_data_acceptance, unsupported_method, allow_header_conformance]

app = make_app(ServerOptions(hosts=(), rate=1e9))
schema = schemathesis.openapi.from_asgi("/api/v1/openapi.json", app)
rejection = schema.config.checks.negative_data_rejection
rejection.expected_statuses = [*rejection.expected_statuses, "413"]
operations = sum(1 for _ in schema.get_all_operations())
begun = []  # the ids of games


@schema.parametrize()
@settings(max_examples=CASES // operations, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_case_is_answered_as_described(case):
    aim(case)
    answer = case.call()
    case.validate_response(answer, excluded_checks=UNFIT)
    if answer.status_code == 201:
        begun.append(answer.json()["id"])


def aim(case):
    """At games that there are, where a well-formed name is one of none."""
    path, body = case.path_parameters or {}, case.body
    if begun and re.fullmatch(r"[A-Za-z0-9_-]{22}", str(path.get("id"))):
        path["id"] = begun[-1]
    for told in (path, body):
        if isinstance(told, dict) and re.fullmatch("[a-z][a-z0-9-]{0,39}", str(told.get("game"))):
            told["game"] = "chess"
