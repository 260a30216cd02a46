"""Recipes whose numbers no training can use are refused before memory is taken for them."""

import pytest

torch = pytest.importorskip("torch")

from made_hanabi import made_game  # noqa: E402

from kedge.errors import InputError  # noqa: E402
from kedge.games.hanabi import Hanabi  # noqa: E402
from kedge.training.diplomacy.policy import DiplomacyRecipe, DiplomacyTrainer  # noqa: E402
from kedge.training.diplomacy.value import ValueRecipe  # noqa: E402
from kedge.training.diplomacy.value import initial_network as initial_value  # noqa: E402
from kedge.training.distributed import Rank  # noqa: E402
from kedge.training.go.policy import GoRecipe  # noqa: E402
from kedge.training.hanabi import belief, policy  # noqa: E402
from kedge.training.memory import enough_memory, make_checked  # noqa: E402

CPU = Rank(torch.device("cpu"))


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        (policy.HanabiRecipe, {"width": 10_000_000}, "^width: a whole number from 0 to 65536"),
        (policy.HanabiRecipe, {"layers": 10**20}, "^layers: a whole number from 0 to 1000"),
        (ValueRecipe, {"hidden": 10**9}, "^hidden: "),
        (DiplomacyRecipe, {"blocks": 10**6}, "^blocks: "),
        (GoRecipe, {"filters": 10**7}, "^filters: "),
        (GoRecipe, {"later": -1}, "^later: "),
        (policy.HanabiRecipe, {"seed": 10**30}, "^seed: "),
        (policy.HanabiRecipe, {"weight_decay": -1.0}, "^weight_decay: a finite number from 0"),
        (policy.HanabiRecipe, {"learning_rate": float("inf")}, "^learning_rate: "),
        (DiplomacyRecipe, {"value_weight": float("nan")}, "^value_weight: "),
    ],
)
def test_numbers_out_of_range(kind, settings, message):
    with pytest.raises(InputError, match=message):
        kind(**settings)


def test_networks_that_no_model_file_holds(tmp_path):
    said = "weights; at most 134,217,728 fit a model file"
    with pytest.raises(InputError, match="width=60000, layers=1: a network of"):
        policy.initial_network(policy.HanabiRecipe(width=60000), Hanabi())
    with pytest.raises(InputError, match=said):
        initial_value(ValueRecipe(width=60000, hidden=60000))
    with pytest.raises(InputError, match=said):
        DiplomacyTrainer(DiplomacyRecipe(width=60000), CPU)
    with pytest.raises(InputError, match=said):
        next(belief.train(None, Hanabi(), tmp_path, belief.BeliefRecipe(width=60000), rank=CPU))


def test_a_network_of_a_usual_size_is_the_same_as_unchecked():
    torch.manual_seed(0)
    plain = torch.nn.Linear(3, 2)
    torch.manual_seed(0)
    checked = make_checked(lambda: torch.nn.Linear(3, 2), policy.HanabiRecipe())
    assert (plain.weight == checked.weight).all()


@pytest.mark.parametrize("error", [MemoryError(), torch.OutOfMemoryError("CUDA out of memory")])
def test_too_little_memory_says_what_to_do(error):
    with pytest.raises(InputError, match="not enough memory; use a smaller batch"), enough_memory():
        raise error


def test_torch_without_memory():
    with pytest.raises(InputError, match="not enough memory"), enough_memory():
        torch.empty(1 << 50)
    with pytest.raises(RuntimeError, match="shape"), enough_memory():
        torch.ones(2) @ torch.ones(3, 3)


def test_a_loss_that_is_no_number_keeps_the_last_checkpoint(tmp_path):
    games = [made_game(number) for number in range(50)]
    recipe = policy.HanabiRecipe(
        width=8, steps=20, batch=8, warmup=1, learning_rate=1e30, average=0.5
    )
    with pytest.raises(InputError, match=r"step 10: the loss is [a-z]+; use a smaller"):
        list(policy.train(games, tmp_path, recipe, rank=CPU))
    assert not list(tmp_path.iterdir())
