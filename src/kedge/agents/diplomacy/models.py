"""Diplomacy's models, by name or weights; each is loaded once per process and device."""

from kedge.agents.cache import cached
from kedge.agents.devices import device
from kedge.errors import InputError
from kedge.models.diplomacy.backends import NetworkValues, OnnxOrderNetwork, TorchOrderNetwork
from kedge.models.diplomacy.model import OrderModel, ValueModel
from kedge.models.diplomacy.network import DiplomacyWeights
from kedge.models.diplomacy.orders import NetworkOrders, SampledOrders
from kedge.models.diplomacy.values import SmallValues, ValueWeights
from kedge.models.named import load, load_as

_BATCHES = {"cpu": 256, "cuda": 4096}  # rows per call of a network
_APART = {"cpu": 1, "cuda": 64}  # … when many orders are drawn for each


def order_model(name: str) -> OrderModel:
    """Return the model of people's orders called `name`."""
    return orders_of(load_as(DiplomacyWeights, name))


def orders_of(weights: DiplomacyWeights) -> OrderModel:
    """Return the model of people's orders with these weights."""
    where, dtype, threads = place = device()

    def make() -> OrderModel:
        sizes = _size(_BATCHES, where), _size(_APART, where)
        if where == "cpu":
            return NetworkOrders(OnnxOrderNetwork(weights, threads), *sizes)
        return SampledOrders(TorchOrderNetwork(weights, where, dtype), *sizes)

    return cached((weights.sha256, "orders", *place), make)


def value_model(name: str) -> ValueModel:
    """Return the model called `name` as one that values positions."""
    weights = load(name)
    where, dtype, threads = place = device()

    def make() -> ValueModel:
        if isinstance(weights, ValueWeights):
            return SmallValues(weights, threads)  # quick on the CPU, whatever the others' device
        if not isinstance(weights, DiplomacyWeights):
            raise InputError(f"{name} is not a model of Diplomacy")
        size = _size(_BATCHES, where)
        return NetworkValues(weights, threads=threads, device=where, dtype=dtype, batch=size)

    return cached((weights.sha256, "values", *place), make)


def _size(sizes: dict[str, int], where: str) -> int:
    if where == "openvino":
        raise InputError("Diplomacy's networks run on cpu or cuda, not on openvino")
    return sizes["cpu" if where == "cpu" else "cuda"]
