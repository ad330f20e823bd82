"""Lines of the figures by depth."""

from types import SimpleNamespace
from typing import Any

from realformer_nmt.analysis.figures import depth_figures


def test_a_stream_that_grows_has_a_line_for_each_tensor_that_is_always_there() -> None:
    norm = [[1.0, 2.0], [1.5, 2.0, 3.0], [1.7, 2.0, 3.0, 4.0]]
    checkpoint = SimpleNamespace(stream={"encoder": SimpleNamespace(norm=norm)})
    model: Any = SimpleNamespace(left_out={"encoder": []}, checkpoint=checkpoint)
    first, second = depth_figures.streams({"dlcl": model})["encoder"]
    assert (list(first.values), list(second.values)) == ([1.0, 1.5, 1.7], [2.0, 2.0, 2.0])
