"""The rules of Go as one would tell them: the specification of the native board."""

from collections.abc import Iterator

EMPTY = 2


class PlainGo:
    """Stones by point; a move takes off what has no liberty, the opponent's chains first."""

    def __init__(self, size: int, superko: str, suicide: bool) -> None:
        self.size, self.superko, self.suicide = size, superko, suicide
        self.stones: tuple[int, ...] = (EMPTY,) * size**2
        self.player = 0
        self.past = [(self.stones, 0)]  # boards, and who was to move on them

    def neighbours(self, point: int) -> Iterator[int]:
        y, x = divmod(point, self.size)
        for dx, dy in ((0, -1), (-1, 0), (1, 0), (0, 1)):
            if 0 <= x + dx < self.size and 0 <= y + dy < self.size:
                yield (y + dy) * self.size + x + dx

    def chain(self, stones: list[int], point: int) -> tuple[set[int], bool]:
        """The chain at `point`, and whether it has a liberty."""
        chain, waiting, liberty = {point}, [point], False
        while waiting:
            for n in self.neighbours(waiting.pop()):
                liberty |= stones[n] == EMPTY
                if stones[n] == stones[point] and n not in chain:
                    chain.add(n)
                    waiting.append(n)
        return chain, liberty

    def after(self, point: int) -> tuple[int, ...] | None:
        """The board after a stone at `point`, if captures allow it."""
        if self.stones[point] != EMPTY:
            return None
        stones = list(self.stones)
        stones[point] = self.player
        for n in self.neighbours(point):
            if stones[n] == 1 - self.player:
                chain, liberty = self.chain(stones, n)
                if not liberty:
                    for stone in chain:
                        stones[stone] = EMPTY
        chain, liberty = self.chain(stones, point)
        if not liberty:
            if not self.suicide or len(chain) == 1:
                return None
            for stone in chain:
                stones[stone] = EMPTY
        return tuple(stones)

    def is_legal(self, point: int) -> bool:
        stones = self.after(point)
        if stones is None:
            return False
        if self.superko == "positional":
            return all(stones != board for board, _ in self.past)
        if self.superko == "situational":
            return (stones, 1 - self.player) not in self.past
        # Simple ko: a capture of one stone may not be undone at once by such another.
        before = self.past[-2][0] if len(self.past) > 1 else None
        return stones != before or self.past[-1][0] == before

    def legal_actions(self) -> list[int]:
        return [*(p for p in range(self.size**2) if self.is_legal(p)), self.size**2]

    def play(self, action: int) -> None:
        if action < self.size**2:
            stones = self.after(action)
            assert stones is not None
            self.stones = stones
        self.player = 1 - self.player
        self.past.append((self.stones, self.player))
