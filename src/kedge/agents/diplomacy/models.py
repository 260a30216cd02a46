"""Diplomacy models and their agents, by name."""

from functools import lru_cache

from kedge.agents.devices import device
from kedge.errors import InputError
from kedge.models.devices import Dtype
from kedge.models.diplomacy.backends import NetworkValues, OnnxOrders, TorchOrders
from kedge.models.diplomacy.model import OrderModel, ValueModel
from kedge.models.diplomacy.network import VALUE as VALUE
from kedge.models.diplomacy.network import DiplomacyWeights
from kedge.models.diplomacy.orders import NetworkOrders, SampledOrders
from kedge.models.diplomacy.values import SmallValues, ValueWeights
from kedge.models.named import load

_KEPT = 8
_BATCHES = {"cpu": 256, "cuda": 4096}  # rows per call of a network
_APART = {"cpu": 1, "cuda": 64}  # … when many orders are drawn for each


def order_model(name: str) -> OrderModel:
    weights = load(name)
    if not isinstance(weights, DiplomacyWeights):
        raise InputError(f"{name} is not a model of people's orders in Diplomacy")
    return _orders(name, weights.sha256, *device())


def value_model(name: str) -> ValueModel:
    weights = load(name)
    if not isinstance(weights, DiplomacyWeights | ValueWeights):
        raise InputError(f"{name} is not a model of Diplomacy")
    return _values(name, weights.sha256, *device())


def value_weights(name: str) -> ValueWeights:
    """Return the weights of a small value network."""
    weights = load(name)
    if not isinstance(weights, ValueWeights):
        raise InputError(f"{name} is not a small value network, such as diplomacy-value")
    return weights


@lru_cache(_KEPT)
def _orders(name: str, _sha256: str, where: str, dtype: Dtype, threads: int) -> OrderModel:
    weights = load(name)
    assert isinstance(weights, DiplomacyWeights)
    sizes = _size(_BATCHES, where), _size(_APART, where)
    if where == "cpu":
        return NetworkOrders(OnnxOrders(weights, threads), *sizes)
    return SampledOrders(TorchOrders(weights, where, dtype), *sizes)


@lru_cache(_KEPT)
def _values(name: str, _sha256: str, where: str, dtype: Dtype, threads: int) -> ValueModel:
    weights = load(name)
    if isinstance(weights, ValueWeights):
        return SmallValues(weights, threads)
    assert isinstance(weights, DiplomacyWeights)
    return NetworkValues(
        weights, threads=threads, device=where, dtype=dtype, batch=_size(_BATCHES, where)
    )


def _size(sizes: dict[str, int], where: str) -> int:
    if where == "openvino":
        raise InputError("Diplomacy's networks run on cpu or cuda, not on openvino")
    return sizes["cpu" if where == "cpu" else "cuda"]
