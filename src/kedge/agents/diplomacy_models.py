"""From the names of Diplomacy models to the agents that order as they do."""

from functools import lru_cache
from pathlib import Path

from kedge.agents.diplomacy import ImitationAgent
from kedge.agents.networks import device
from kedge.errors import InputError
from kedge.models import embedded, store
from kedge.models.backends import Dtype
from kedge.models.diplomacy import OrderModel, ValueModel
from kedge.models.diplomacy_backends import NetworkValues, OnnxOrders, OrderNetwork, TorchOrders
from kedge.models.diplomacy_network import DiplomacyWeights
from kedge.models.diplomacy_orders import NetworkOrders
from kedge.models.weight_files import read_diplomacy

#: What positions are worth, to those whose own network is not to be asked thousands of times.
VALUE = "diplomacy-value"
_KEPT = 8
_BATCHES = {"cpu": (256, 256), "cuda": (4096, 4096)}  # questions, and positions to be valued


def human_agent(name: str, temperature: float = 1.0, top_p: float = 1.0) -> ImitationAgent:
    """The model `name` by itself: one that ships with kedge, a stored one, or a path."""
    return ImitationAgent(order_model(name), value_model(VALUE), temperature, top_p)


def order_model(name: str) -> OrderModel:
    weights = load(name)
    if not weights.layers:
        raise InputError(f"{name}: knows what positions are worth, but nothing of orders")
    return _orders(name, weights.sha256, *device())


def value_model(name: str) -> ValueModel:
    return _values(name, load(name).sha256, *device())


def load(name: str) -> DiplomacyWeights:
    if name in embedded.names():
        return embedded.load_diplomacy(name)
    return read_diplomacy(store.resolve(name))


def is_model(name: str) -> bool:
    """Whether a Diplomacy network is called that."""
    if name in embedded.names():
        return isinstance(embedded.load_any(name), DiplomacyWeights)
    known = name in store.known_names() or store.is_path(name)
    return known and is_diplomacy_file(store.resolve(name))


def is_diplomacy_file(path: Path) -> bool:
    try:
        read_diplomacy(path)
    except InputError:
        return False
    return True


@lru_cache(_KEPT)
def _orders(name: str, _sha256: str, where: str, dtype: Dtype, threads: int) -> OrderModel:
    weights = load(name)
    network: OrderNetwork = (
        OnnxOrders(weights, threads) if where == "cpu" else TorchOrders(weights, where, dtype)
    )
    return NetworkOrders(network, _batches(where)[0])


@lru_cache(_KEPT)
def _values(name: str, _sha256: str, where: str, dtype: Dtype, threads: int) -> ValueModel:
    return NetworkValues(
        load(name), threads=threads, device=where, dtype=dtype, batch=_batches(where)[1]
    )


def _batches(where: str) -> tuple[int, int]:
    if where == "openvino":
        raise InputError("Diplomacy's networks run on cpu or cuda, not on openvino")
    return _BATCHES["cpu" if where == "cpu" else "cuda"]
