"""Liberties and ladders as one would explain them: the specification of the native planes."""

from plain_go import EMPTY, PlainGo


class PlainTactics:
    """Reads the board of a `PlainGo` with simple ko."""

    def __init__(self, game: PlainGo, ko: int | None) -> None:
        self._game, self._ko = game, ko

    def planes(self) -> list[set[int]]:
        """The points of `encode_go`'s planes 17 to 24."""
        game, stones = self._game, self._game.stones
        planes: list[set[int]] = [set() for _ in range(8)]
        if self._ko is not None:
            planes[3].add(self._ko)
        for point, colour in enumerate(stones):
            if colour == EMPTY:
                continue
            liberties = self._liberties(stones, point)
            if len(liberties) <= 3:
                planes[len(liberties) - 1].add(point)
            to_move = colour == game.player
            if len(liberties) == 1:
                if self._is_caught(stones, point, self._ko if to_move else None):
                    planes[4].add(point)
            elif len(liberties) == 2:
                ko = None if to_move else self._ko
                begins = {at for at in liberties if self._is_caught_by(stones, at, point, ko)}
                if begins:
                    planes[4].add(point)
                if not to_move:
                    planes[5] |= begins
        for point in range(len(stones)):
            played = self._play(stones, point, game.player, self._ko)
            if played is not None:
                count = len(self._liberties(played[0], point))
                if count <= 2:
                    planes[5 + count].add(point)
        return planes

    def _chain(self, stones, point):
        return self._game.chain(list(stones), point)[0]

    def _liberties(self, stones, point):
        around = {n for stone in self._chain(stones, point) for n in self._game.neighbours(stone)}
        return {n for n in around if stones[n] == EMPTY}

    def _play(self, stones, move, player, ko):
        """The board after a move and the point that may not be retaken; None if it is illegal."""
        if move == ko:
            return None
        game = PlainGo(self._game.size, "simple", suicide=False)
        game.stones, game.player = tuple(stones), player
        after = game.after(move)
        if after is None:
            return None
        taken = [p for p, stone in enumerate(after) if stone == EMPTY and stones[p] != EMPTY]
        alone = self._chain(after, move) == {move} and len(self._liberties(after, move)) == 1
        return after, taken[0] if len(taken) == 1 and alone else None

    def _is_caught(self, stones, point, ko):
        """Whether a chain in atari is lost although its owner is to move."""
        owner = stones[point]
        around = {n for stone in self._chain(stones, point) for n in self._game.neighbours(stone)}
        attackers = [n for n in around if stones[n] == 1 - owner]
        moves = self._liberties(stones, point)
        for attacker in attackers:
            liberties = self._liberties(stones, attacker)
            moves |= liberties if len(liberties) == 1 else set()
        for move in moves:
            played = self._play(stones, move, owner, ko)
            if played is None:
                continue
            after, next_ko = played
            liberties = self._liberties(after, point)
            if len(liberties) > 2:
                return False
            if len(liberties) == 2 and not any(
                self._is_caught_by(after, liberty, point, next_ko) for liberty in liberties
            ):
                return False
        return True

    def _is_caught_by(self, stones, liberty, point, ko):
        """Whether the opponent catches a chain with two liberties by playing at one of them."""
        played = self._play(stones, liberty, 1 - stones[point], ko)
        return played is not None and self._is_caught(played[0], point, played[1])
