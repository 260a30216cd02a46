"""Diplomacy models and their agents, by name."""

from kedge.agents.devices import device
from kedge.agents.kept import kept
from kedge.errors import InputError
from kedge.models.devices import Dtype
from kedge.models.diplomacy.backends import NetworkValues, OnnxOrders, TorchOrders
from kedge.models.diplomacy.model import OrderModel, ValueModel
from kedge.models.diplomacy.network import VALUE as VALUE
from kedge.models.diplomacy.network import DiplomacyWeights
from kedge.models.diplomacy.orders import NetworkOrders, SampledOrders
from kedge.models.diplomacy.values import SmallValues, ValueWeights
from kedge.models.named import load
from kedge.models.weight_files import AnyWeights

_BATCHES = {"cpu": 256, "cuda": 4096}  # rows per call of a network
_APART = {"cpu": 1, "cuda": 64}  # … when many orders are drawn for each


def order_model(name: str, weights: AnyWeights | None = None) -> OrderModel:
    """Return the human model `name`; `weights` are its own, if they are loaded already."""
    weights = weights or load(name)
    if not isinstance(weights, DiplomacyWeights):
        raise InputError(f"{name} is not a model of people's orders in Diplomacy")
    place = device()
    return kept((name, weights.sha256, "orders", *place), lambda: _orders(weights, *place))


def value_model(name: str) -> ValueModel:
    weights = load(name)
    if not isinstance(weights, DiplomacyWeights | ValueWeights):
        raise InputError(f"{name} is not a model of Diplomacy")
    place = device()
    return kept((name, weights.sha256, "values", *place), lambda: _values(weights, *place))


def value_weights(name: str) -> ValueWeights:
    """Return the weights of a small value network."""
    weights = load(name)
    if not isinstance(weights, ValueWeights):
        raise InputError(f"{name} is not a small value network, such as diplomacy-value")
    return weights


def _orders(weights: DiplomacyWeights, where: str, dtype: Dtype, threads: int) -> OrderModel:
    sizes = _size(_BATCHES, where), _size(_APART, where)
    if where == "cpu":
        return NetworkOrders(OnnxOrders(weights, threads), *sizes)
    return SampledOrders(TorchOrders(weights, where, dtype), *sizes)


def _values(
    weights: DiplomacyWeights | ValueWeights, where: str, dtype: Dtype, threads: int
) -> ValueModel:
    if isinstance(weights, ValueWeights):
        return SmallValues(weights, threads)
    return NetworkValues(
        weights, threads=threads, device=where, dtype=dtype, batch=_size(_BATCHES, where)
    )


def _size(sizes: dict[str, int], where: str) -> int:
    if where == "openvino":
        raise InputError("Diplomacy's networks run on cpu or cuda, not on openvino")
    return sizes["cpu" if where == "cpu" else "cuda"]
