"""What norms have and a layer does not keep for backward, where they follow a product or stand side by side."""

from __future__ import annotations

from typing import Final

from trainplan.budgets.layer import norms_per_block
from trainplan.budgets.memory.recipe import element_bytes, input_bytes, word
from trainplan.budgets.situation import Situation
from trainplan.formulas import memory_layers as f
from trainplan.quantity.figure import Figure, given

ORACLE: Final = "tests/golden/test_saved_bytes.py: GLM-4, Gemma 3 and GPT-NeoX layers of transformers 5.24"
INTO_SUM: Final = given("outputs of norms that go into a sum", 2.0, "1", ORACLE)


def without_unread(s: Situation, kept: Figure, *, eager: bool) -> Figure:
    """Bytes of a token on the residual stream, of `kept`, where each norm keeps its input and its output.

    What a norm gives to the residual sum no product reads, and torch.compile adds the sum between attention and MLP again from
    its input and that norm's. Two norms side by side have one input, of which an RMS norm in plain operators makes a copy each.
    """
    norms, hidden = float(norms_per_block(s)), s["model.hidden_size"]
    if s.flag("model.post_norms") and norms == 4.0:
        kept = f.kept_less(kept, f.times(INTO_SUM, input_bytes(s)), hidden)
        return f.kept_less(kept, element_bytes(s), hidden) if word(s, "training.kernels") == "torch-compile" else kept
    copied = eager and s.word("model.norm") != "layernorm"
    if s.flag("model.parallel_block") and norms == 2.0 and not copied:
        return f.kept_less(kept, element_bytes(s), hidden)
    return kept
