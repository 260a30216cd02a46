"""Former names of the games' reviewers, for scripts that use them."""

import warnings
from collections.abc import Callable

from kedge import catalogue
from kedge.evaluation.review import Reviewer, review_of


def __getattr__(name: str) -> Callable[..., Reviewer]:
    game = name.removesuffix("_judge")
    if name == game or game not in catalogue.names():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warnings.warn(
        f"{name} is now kedge.evaluation.review.review_of({game!r}).reviewer",
        DeprecationWarning,
        stacklevel=2,
    )
    return review_of(game).reviewer
