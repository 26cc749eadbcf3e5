import numpy as np
from scipy.optimize import linprog

from mha import Encoder
from mha.batches import collate
from mha.models.maps import stream_maps
from mha.reading.flow import UNIT, attention_flow, flow_maps
from tests.mha.conftest import model_of, text_of

ONE_LAYER = [[0.9, 0.1], [0.3, 0.7]]


def test_flows_of_a_network_that_was_solved_by_hand() -> None:
    flow = attention_flow(np.array([ONE_LAYER, [[1.0, 0.0], [0.2, 0.8]]]))
    np.testing.assert_allclose(flow[0], ONE_LAYER, rtol=0, atol=2 / UNIT)
    # from piece 1 to input 0: 0.2 of the 0.9 that piece 0 can pass on, and 0.3 of the 0.8 that reach piece 1;
    # to input 1: 0.1, all that piece 0 can pass on, and 0.7
    np.testing.assert_allclose(flow[1], [[0.9, 0.1], [0.5, 0.8]], rtol=0, atol=4 / UNIT)


def by_linear_program(capacity: np.ndarray, source: int, sink: int) -> float:
    """The maximum flow from a piece behind the last layer to one of the input, in double precision."""
    layers, pieces = capacity.shape[:2]
    edges = [
        ((layer + 1) * pieces + query, layer * pieces + key, capacity[layer, query, key])
        for layer, query, key in np.ndindex(capacity.shape)
    ]
    start = layers * pieces + source
    conserved = np.zeros(((layers + 1) * pieces, len(edges)))
    for number, (tail, head, _) in enumerate(edges):
        conserved[tail, number] -= 1
        conserved[head, number] += 1
    inner = [node for node in range(len(conserved)) if node not in (start, sink)]
    worth = [-float(head == sink) for _, head, _ in edges]
    bounds = [(0, float(most)) for *_, most in edges]
    return -linprog(worth, A_eq=conserved[inner], b_eq=np.zeros(len(inner)), bounds=bounds).fun


def test_flows_are_those_of_a_linear_program() -> None:
    capacity = np.random.default_rng(0).dirichlet(np.full(4, 0.3), (3, 4))
    flow = attention_flow(capacity)
    direct = [[by_linear_program(capacity, query, key) for key in range(4)] for query in range(4)]
    np.testing.assert_allclose(flow[2], direct, rtol=0, atol=1e-7)
    assert not np.allclose(flow[2], capacity[2] @ capacity[1] @ capacity[0], atol=0.05)


def test_flow_of_a_model_is_that_of_its_half_residual_layers_and_rollout_that_of_the_stream(encoder: Encoder) -> None:
    batch, rolled = collate([text_of(1, 2, 1)]), []
    found = flow_maps(model_of(encoder), batch)
    assert [*found] == ["weights", "rollout", "flow"]
    assert {maps.shape for maps in found.values()} == {(3, 3, 5)}
    np.testing.assert_allclose(found["flow"][0], found["rollout"][0], rtol=0, atol=1e-6)
    assert (found["flow"][1:] > found["rollout"][1:] - 1e-6).all()
    assert (found["flow"][2] > found["rollout"][2] + 0.01).any()
    stream_maps(model_of(encoder), batch, lambda layer, maps: rolled.append(maps[0].mean(0).numpy()), maps="rollout")
    itself = np.eye(3, 5)
    np.testing.assert_allclose(found["rollout"][0][0], (rolled[0] + itself)[0] / 2, rtol=0, atol=1e-6)
