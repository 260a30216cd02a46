"""A small Go network with random weights: AlphaGo Zero's heads on a short tower, or heads by
points."""

import numpy as np

from kedge.models.board.weights import Weights
from kedge.models.go.encoding import GO


def weights(filters=8, blocks=2, squeezed=4, policy_planes=2, hidden=6, *, policy="classical"):
    rng = np.random.default_rng(3)
    area = GO.side**2
    shapes = {"input": (filters, GO.planes, 3, 3), "value.fc2": (1, hidden)}
    if policy == "classical":
        shapes |= {
            "policy.conv": (policy_planes, filters, 1, 1),
            "policy.fc": (GO.moves, policy_planes * area),
            "value.conv": (1, filters, 1, 1),
            "value.fc1": (hidden, area),
        }
    else:
        shapes |= {
            "policy.conv1": (filters, filters, 3, 3),
            "policy.conv2": (2, filters, 3, 3),
            "value.conv": (5, filters, 1, 1),
            "value.fc1": (hidden, 5),
        }
    for block in range(blocks):
        shapes |= {f"blocks.{block}.conv{k}": (filters, filters, 3, 3) for k in (1, 2)}
        shapes[f"blocks.{block}.se.fc1"] = (squeezed, filters)
        shapes[f"blocks.{block}.se.fc2"] = (2 * filters, squeezed)
    arrays = {}
    for name, shape in shapes.items():
        fan_in = np.prod(shape[1:])
        arrays[f"{name}.weight"] = rng.normal(0, fan_in**-0.5, shape).astype(np.float32)
        arrays[f"{name}.bias"] = rng.normal(0, 0.1, shape[0]).astype(np.float32)
    return Weights(arrays, filters, blocks, squeezed, policy, "classical", "", {}, GO)
