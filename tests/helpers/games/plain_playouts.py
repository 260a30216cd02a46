"""Random games as one would tell them: the specification of native ownership."""

from plain_go import EMPTY, PlainGo


def splitmix(x: int) -> int:
    word = 2**64 - 1
    x = (x + 0x9E3779B97F4A7C15) & word
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & word
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & word
    return x ^ (x >> 31)


class Playout(PlainGo):
    """A game from stones that have no past."""

    def __init__(self, size: int, stones: list[int], player: int) -> None:
        super().__init__(size, "simple", suicide=False)
        self.stones, self.player = tuple(stones), player
        self.past = [(self.stones, player)]

    def is_surrounded(self, point: int, colour: int) -> bool:
        around = {self.stones[n] for n in self.neighbours(point)}
        return self.stones[point] == EMPTY and around == {colour}

    def is_eye(self, point: int, colour: int) -> bool:
        if not self.is_surrounded(point, colour):
            return False
        y, x = divmod(point, self.size)
        corners = [
            self.stones[b * self.size + a]
            for a in (x - 1, x + 1)
            for b in (y - 1, y + 1)
            if 0 <= a < self.size and 0 <= b < self.size
        ]
        return corners.count(1 - colour) < (2 if len(corners) == 4 else 1)

    def gives_away(self, point: int) -> bool:
        """Takes nothing, and leaves a chain of two or more with one liberty."""
        after = self.after(point)
        assert after is not None
        if sum(stone != EMPTY for stone in after) <= sum(stone != EMPTY for stone in self.stones):
            return False
        chain, _ = self.chain(list(after), point)
        liberties = {n for stone in chain for n in self.neighbours(stone) if after[n] == EMPTY}
        return len(chain) > 1 and len(liberties) == 1

    def move(self, random: int) -> int:
        """Draw and make a move; the random number that it ended with."""
        empty = [point for point, stone in enumerate(self.stones) if stone == EMPTY]
        while empty:
            random = splitmix(random)
            index = (random >> 32) * len(empty) >> 32
            point = empty[index]
            playable = self.is_legal(point) and not self.is_eye(point, self.player)
            if playable and not self.gives_away(point):
                self.play(point)
                return random
            empty[index] = empty[-1]
            empty.pop()
        self.play(self.size**2)
        return random


def ownership(size: int, stones: list[int], playouts: int, seed: int) -> list[float]:
    sums = [0] * size**2
    for number in range(playouts):
        game, random = Playout(size, stones, number % 2), splitmix(seed + number)
        passes = 0
        for _ in range(3 * size**2):
            before = game.stones
            random = game.move(random)
            passes = passes + 1 if game.stones == before else 0
            if passes == 2:
                break
        for point, stone in enumerate(game.stones):
            for colour in (0, 1):
                if stone == colour or game.is_surrounded(point, colour):
                    sums[point] += 1 - 2 * colour
    return [total / playouts for total in sums]
