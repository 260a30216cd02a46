"""Run native forests: collect leaves, evaluate them in a batch, update, until done."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any, TypeAlias, TypeVar

import numpy as np

from kedge import _core
from kedge.search.puct.result import SearchResult, Settings

#: A game's native forest, such as ``_core.ChessForest``.
NativeForest: TypeAlias = "_core.Forest"
F = TypeVar("F", bound="_core.Forest")
T = TypeVar("T")
#: Evaluates the leaves that wait in a forest and gives it the answer.
EvaluateBatch: TypeAlias = Callable[[F], None]
#: A forest, and who evaluates its leaves.
ForestLane: TypeAlias = tuple[F, EvaluateBatch[F]]


def admit(forest: NativeForest, root: Any, settings: Settings) -> int:
    """Add a root to search, and return the number of its tree."""
    return forest.add(
        root,
        settings.c_puct,
        settings.playouts,
        settings.constant_lambda,
        settings.batch,
        settings.gumbel,
        settings.c_visit,
        settings.c_scale,
        settings.gumbel_noise(len(root.legal_actions())).tolist() if settings.gumbel else [],
    )


def root_result(forest: NativeForest, tree: int, settings: Settings) -> SearchResult:
    """Return the state of a tree's root; the tree may still grow."""
    _, actions, prior, visits, totals, value = forest.roots([tree])
    lines = forest.lines(tree)
    return SearchResult(settings, actions, prior, visits, totals, value[0], lines)


def root_results(forest: NativeForest, trees: Sequence[int], settings: Settings) -> SearchResult:
    """Return the roots of many trees as one batched `SearchResult`."""
    starts, *columns, values = forest.roots(trees)
    counts = np.diff(starts)
    mask = np.arange(counts.max(initial=1)) < counts[:, None]

    def padded(flat: Any, fill: int = 0) -> Any:
        table = np.full(mask.shape, fill, flat.dtype)
        table[mask] = flat
        return table

    actions, prior, visits, totals = columns
    return SearchResult(
        settings,
        padded(actions, np.iinfo(np.int64).max),  # those that are not real come last
        padded(prior),
        padded(visits),
        padded(totals),
        values,
        mask=mask,
    )


def search_many(
    forest: F, roots: Sequence[Any], evaluate: EvaluateBatch[F], settings: Settings
) -> list[SearchResult]:
    """Search every root exactly as if it were alone, while the evaluator sees full batches."""
    trees = [admit(forest, root, settings) for root in roots]
    while forest.collect():
        evaluate(forest)
    results = [root_result(forest, tree, settings) for tree in trees]
    for tree in trees:
        forest.remove(tree)
    return results


def search_chunks(
    lanes: Sequence[ForestLane[F]],
    chunks: Iterable[Sequence[Any]],
    settings: Settings,
    finish: Callable[[SearchResult], T],
) -> Iterator[T]:
    """Search chunks of roots, and yield `finish` of each result, in order.

    Every lane searches a chunk in a thread of its own: the trees of one grow while a GPU evaluates
    the leaves of another.
    """
    free: SimpleQueue[ForestLane[F]] = SimpleQueue()
    for lane in lanes:
        free.put(lane)
    stopped = False

    def search(roots: Sequence[Any]) -> T:
        forest, evaluate = lane = free.get()
        try:
            trees = [admit(forest, root, settings) for root in roots]
            while not stopped and forest.collect():
                evaluate(forest)
            return finish(root_results(forest, trees, settings))
        finally:
            forest.clear()
            free.put(lane)

    ahead: deque[Future[T]] = deque()
    with ThreadPoolExecutor(len(lanes)) as pool:
        try:
            for roots in chunks:
                ahead.append(pool.submit(search, roots))
                if len(ahead) > len(lanes):
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            stopped = True
            pool.shutdown(wait=False, cancel_futures=True)
