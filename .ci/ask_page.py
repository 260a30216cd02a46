"""Whether the page answers, and an agent on it thinks of a move: 0 if so."""

import json
import sys
import urllib.request

PAGE = "http://127.0.0.1:8477"
QUESTION = {"game": "chess", "turns": ["e4", "e5"], "dial": 0.5}

here = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # whatever proxies there are
try:
    with here.open(PAGE, timeout=5) as answer:
        page = answer.read()
except OSError:
    sys.exit(1)
request = urllib.request.Request(
    f"{PAGE}/api/v1/policy",
    json.dumps(QUESTION).encode(),
    {"Content-Type": "application/json"},
)
with here.open(request, timeout=60) as answer:
    thought = json.load(answer)
print(f"the page answers; it would play {thought['rows'][0]['name']}")
assert b"kedge" in page
