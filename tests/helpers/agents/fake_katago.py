"""KataGo's analysis engine as far as tests need it: it knows what was asked, not how to play."""

import sys

# Half a chance for the next point of the board, counted from the number of moves made, the rest
# shared by all; what was played is illegal. Answers come last first, and a warning before them.
PROGRAM = f"""#!{sys.executable}
import json, sys
if "broken" in sys.argv[sys.argv.index("-model") + 1]:
    sys.exit("started\\nno such network")
def point(word):
    if word == "pass":
        return 361
    return (19 - int(word[1:])) * 19 + "ABCDEFGHJKLMNOPQRST".index(word[0])
for line in sys.stdin:
    query = json.loads(line)
    if query["komi"] == 13:
        print(json.dumps({{"id": query["id"], "error": "Komi is bad luck"}}), flush=True)
        continue
    print(json.dumps({{"id": query["id"], "warning": "Odd", "field": "komi"}}))
    for turn in reversed(query["analyzeTurns"]):
        policy = [0.5 / 361] * 362
        policy[turn] = 0.5
        for _, word in query["moves"][:turn]:
            policy[point(word)] = -1
        print(json.dumps({{"id": query["id"], "turnNumber": turn, "policy": policy}}), flush=True)
"""


def write(path):
    path.write_text(PROGRAM)
    path.chmod(0o755)
    return path
