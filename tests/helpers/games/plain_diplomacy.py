"""What one movement phase leads to, in plain Python: DATC, chapter 5, decision by decision.

Every decision (a move succeeds, a support is given, a fleet can carry) starts open. One that
follows from what is known is taken, until none does. What is left then turns in a circle: units
that follow each other all move, and in a convoy paradox the convoys fail (Szykman's rule).
"""

from itertools import product

from kedge.games.diplomacy import BORDERS

STEPS = {unit: {(a[:3], b[:3]) for a, b in pairs} for unit, pairs in BORDERS.items()}


def adjudicate(units, orders):
    """`units` are (power, "A PAR"), `orders` legal ones by place, such as {"PAR": "A PAR - BUR"}.

    Returns the units that stand, and where each dislodged one may retreat to.
    """
    return Movement(units, orders).result()


class Movement:
    def __init__(self, units, orders):
        self.units = {text[2:5]: (power, text) for power, text in units}
        self.moves, self.supports, self.convoys, self.via = {}, {}, {}, set()
        words = {place: orders.get(place, f"A {place} H").split() for place in self.units}
        for place, word in words.items():
            if word[2] == "-":
                self.moves[place] = word[3]
                if word[-1] == "VIA":
                    self.via.add(place)
        for place, word in words.items():
            if word[2] in "SC" and len(word) > 5:
                whom, to = word[4][:3], word[6]
                if self.moves.get(whom, "")[:3] == to[:3] and to in (to[:3], self.moves[whom]):
                    (self.supports if word[2] == "S" else self.convoys)[place] = whom
            elif word[2] == "S" and word[4][:3] not in self.moves:
                self.supports[place] = word[4][:3]
        self.convoyed = {place for place in self.moves if self.goes_by_sea(place)}
        open_moves = [("moves", place) for place in self.moves]
        open_supports = [("gives", place) for place in self.supports]
        carriers = [("carries", place) for place in self.convoys]
        self.known = dict.fromkeys(open_moves + open_supports + carriers)

    # The map.

    def power(self, place):
        return self.units[place][0]

    def target(self, place):
        return self.moves[place][:3]

    def attackers(self, place):
        return [other for other in self.moves if self.target(other) == place]

    def goes_by_sea(self, place):
        if self.units[place][1][0] == "F":
            return False
        if (place, self.target(place)) not in STEPS["A"]:
            return True
        fleets = {fleet for fleet, army in self.convoys.items() if army == place}
        own = any(self.power(fleet) == self.power(place) for fleet in fleets)
        return (place in self.via or own) and self.route(place, fleets)

    def route(self, place, fleets):
        """Whether these fleets join the army and where it goes."""
        reached, edge = set(), [place]
        while edge:
            here = edge.pop()
            for fleet in fleets - reached:
                if (here, fleet) in STEPS["F"]:
                    reached.add(fleet)
                    edge.append(fleet)
        return any((fleet, self.target(place)) in STEPS["F"] for fleet in reached)

    # Decisions: True, False, or None while they are open.

    def read(self, kind, place):
        self.reads.add((kind, place))
        return self.known[kind, place]

    def carries(self, fleet):
        return negate(any_of(self.read("moves", other) for other in self.attackers(fleet)))

    def gives(self, place):
        aim = self.target(self.supports[place]) if self.supports[place] in self.moves else None
        cuts = []
        for other in self.attackers(place):
            if self.power(other) == self.power(place):
                continue
            cuts.append(self.read("moves", other) if other == aim else self.path(other))
        return negate(any_of(cuts))

    def path(self, place):
        if place not in self.convoyed:
            return True
        carries = {
            fleet: self.read("carries", fleet)
            for fleet, army in self.convoys.items()
            if army == place
        }
        if self.route(place, {fleet for fleet, carried in carries.items() if carried}):
            return True
        open_ones = {fleet for fleet, carried in carries.items() if carried is not False}
        return None if self.route(place, open_ones) else False

    def head_to_head(self, place):
        other = self.target(place)
        return (
            other in self.moves
            and self.target(other) == place
            and not {place, other} & self.convoyed
        )

    def strength(self, place, without=None):
        """The least and the most that it can be."""
        given = [
            self.read("gives", supporter)
            for supporter, whom in self.supports.items()
            if whom == place and self.power(supporter) != without
        ]
        return 1 + given.count(True), 1 + given.count(True) + given.count(None)

    def prevents(self, place):
        low, high = self.strength(place)
        holds = [self.path(place)]
        if self.head_to_head(place):
            holds.append(negate(self.read("moves", self.target(place))))
        if False in holds:
            return 0, 0
        return (0 if None in holds else low), high

    def moves_when(self, place, leaves):
        """Whether the move succeeds if who is there leaves, or stays."""
        there = self.target(place)
        if there not in self.units or leaves:
            attack, resistance = self.strength(place), (0, 0)
        elif self.power(there) == self.power(place):
            return False
        else:
            attack = self.strength(place, without=self.power(there))
            beaten_back = there in self.moves and not self.head_to_head(place)
            resistance = (1, 1) if beaten_back else self.strength(there)
        others = [self.prevents(other) for other in self.attackers(there) if other != place]
        rivals = [resistance, *others]
        if any(attack[1] <= low for low, _ in rivals):
            return False
        return True if all(attack[0] > high for _, high in rivals) else None

    def move(self, place):
        there = self.target(place)
        leaves = False
        if there in self.moves and not self.head_to_head(place):
            leaves = self.read("moves", there)
        cases = [True, False] if leaves is None else [leaves]
        verdicts = {self.moves_when(place, case) for case in cases}
        outcome = verdicts.pop() if len(verdicts) == 1 else None
        return negate(any_of([negate(self.path(place)), negate(outcome)]))

    # All of them.

    def solve(self):
        kinds = {"moves": self.move, "gives": self.gives, "carries": self.carries}
        while None in self.known.values():
            graph, settled = {}, False
            for key in [key for key, known in self.known.items() if known is None]:
                self.reads = set()
                verdict = kinds[key[0]](key[1])
                if verdict is not None:
                    self.known[key], settled = verdict, True
                graph[key] = self.reads
            if not settled:
                self.break_circle(graph)

    def break_circle(self, graph):
        """Settles what waits for itself and for nothing else that is open."""
        still = {key: {r for r in reads if self.known[r] is None} for key, reads in graph.items()}
        for middle, start in product(still, still):
            if middle in still[start]:
                still[start] |= still[middle]
        circle = min(still.values(), key=len)
        paradox = [key for key in circle if key[0] == "carries"]
        for key in paradox or [key for key in circle if key[0] == "moves"]:
            self.known[key] = not paradox

    def failed(self):
        """The places of the units whose moves fail."""
        self.solve()
        return {place for place in self.moves if not self.known["moves", place]}

    def result(self):
        self.solve()
        gone = {place for place in self.moves if self.known["moves", place]}
        stand = {}
        for place in gone:
            power, text = self.units[place]
            stand[self.target(place)] = (power, f"{text[0]} {self.moves[place]}")
        bounced = {
            self.target(place)
            for place in self.moves
            if place not in gone and self.prevents(place)[1] > 0
        }
        beaten = {place for place in self.units if place not in gone and place in stand}
        for place in self.units.keys() - gone - beaten:
            stand[place] = self.units[place]
        retreats = {}
        for place in beaten:
            (winner,) = [other for other in self.attackers(place) if other in gone]
            barred = stand.keys() | bounced | ({winner} - self.convoyed)
            text = self.units[place][1]
            ways = {b for a, b in BORDERS[text[0]] if a == text[2:] and b[:3] not in barred}
            retreats[self.units[place]] = ways
        return set(stand.values()), retreats


def failed_retreats(orders):
    """The places of the units that retreat to one place; `orders` are legal ones."""
    goals = {words[1][:3]: words[3][:3] for words in map(str.split, orders) if words[2] == "R"}
    return {place for place, goal in goals.items() if [*goals.values()].count(goal) > 1}


def any_of(values):
    values = list(values)
    return True if True in values else None if None in values else False


def negate(value):
    return None if value is None else not value
