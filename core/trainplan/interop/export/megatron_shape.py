"""The shape of a model in Megatron's arguments: layers, attention, experts, latent attention.

Apart from `megatron`, which says layout, batch and training, because a shape is the same on every layout. It refuses a shape
that has no argument known here.
"""

from __future__ import annotations

from typing import Any, Final

from trainplan.estimation import Estimate
from trainplan.interop.export.run import ExportError, kinds, refuse, whole

Arguments = list[tuple[str, str]]
"""Names with their values in order; a flag has the value ""."""

_POSITIONS: Final = {"rope": "rope", "learned": "learned_absolute", "none": "none"}
_NORMS: Final = {"rmsnorm": "RMSNorm", "layernorm": "LayerNorm"}


def known(estimate: Estimate, path: str, words: dict[str, Any]) -> Any:
    """The arguments for the word at a plan path. Raises ExportError for a word without one."""
    word = estimate.situation.word(path) or ""
    if word not in words:
        raise ExportError(
            f'{path} is "{word}", for which no Megatron argument is known here. One of {", ".join(words)} has one'
        )
    return words[word]


def flag(there: bool, name: str) -> Arguments:
    """A flag where it holds."""
    return [(name, "")] if there else []


def model_arguments(e: Estimate) -> Arguments:
    """Layers, widths, vocabulary, positions and norms; raises ExportError for a shape without an argument."""
    s = e.situation
    biases = {s.flag(f"model.{name}") for name in ("attention_bias", "attention_output_bias", "mlp_bias")}
    wrong = {
        "model.parallel_block": s.flag("model.parallel_block"),
        "model.post_norms": s.flag("model.post_norms"),
        "model.attention_output_bias": s.flag("model.attention_output_bias") and len(biases) > 1,
        "model.mlp_bias": s.flag("model.mlp_bias") and len(biases) > 1,
        "model.moe.router_bias": bool(s.value("model.moe.router_bias")),
        **_foreign(e),
    }
    refuse(wrong, "Megatron")
    return [
        ("--num-layers", f"{whole(e, 'model.num_hidden_layers')}"),
        ("--hidden-size", f"{whole(e, 'model.hidden_size')}"),
        ("--ffn-hidden-size", f"{whole(e, 'model.intermediate_size')}"),
        ("--vocab-size", f"{whole(e, 'model.vocab_size')}"),
        ("--max-position-embeddings", f"{_most_positions(e)}"),
        ("--position-embedding-type", known(e, "model.position_embedding", _POSITIONS)),
        ("--normalization", known(e, "model.norm", _NORMS)),
        *flag(s.flag("model.gated_mlp"), "--swiglu"),
        *flag(not s.flag("model.tie_word_embeddings"), "--untie-embeddings-and-output-weights"),
        *flag(not s.flag("model.mlp_bias"), "--disable-bias-linear"),
        *(
            [("--mtp-num-layers", f"{depth}")]
            if (depth := int(s.value("model.mtp.num_nextn_predict_layers") or 0))
            else []
        ),
    ]


def _foreign(e: Estimate) -> dict[str, bool]:
    """Weights that models of other programs have, and Megatron has no argument for."""
    s = e.situation
    hidden, plain = s.value("model.hidden_size"), s.word("model.norm") == "layernorm"
    return {
        "model.embedding_norm": s.flag("model.embedding_norm"),
        "model.head_bias": s.flag("model.head_bias"),
        "model.embedding_size": s.value("model.embedding_size") not in (None, hidden),
        "model.position_offset": bool(s.value("model.position_offset")),
        "model.activation_parameters": bool(s.value("model.activation_parameters")),
        "model.norm_bias": s.value("model.norm_bias") not in (None, plain),
        "model.norms_per_block": s.value("model.norms_per_block") not in (None, 2),
        "model.final_norm": not s.flag("model.final_norm"),
        "model.qk_norm_scope": s.flag("model.qk_norm") and s.word("model.qk_norm_scope") == "projection",
        "model.moe.expert_bias": bool(s.value("model.moe.num_experts"))
        and s.flag("model.moe.expert_bias") != s.flag("model.mlp_bias"),
        "model.attention_gate": s.word("model.attention_gate") == "head",
    }


def _most_positions(e: Estimate) -> int:
    """Positions of the model, or of a sequence where that is longer."""
    known = e.situation.value("model.max_position_embeddings")
    return max(*(length for length, _ in kinds(e)), int(known) if known else 0)


def attention_arguments(e: Estimate) -> Arguments:
    """Heads, groups, their width and biases."""
    s = e.situation
    heads = whole(e, "model.num_attention_heads")
    found: Arguments = [("--num-attention-heads", f"{heads}")]
    groups = s.value("model.num_key_value_heads")
    if groups and int(groups) != heads and e.plan.model.mla is None:
        found += [("--group-query-attention", ""), ("--num-query-groups", f"{int(groups)}")]
    width = s.value("model.head_dim")
    if width and int(width) * heads != whole(e, "model.hidden_size"):
        found.append(("--kv-channels", f"{int(width)}"))
    bias = s.flag("model.attention_bias") and not s.flag("model.mlp_bias")
    found += [*flag(bias, "--add-qkv-bias"), *flag(s.flag("model.qk_norm"), "--qk-layernorm")]
    found += flag(s.word("model.attention_gate") == "element", "--attention-output-gate")
    found += [("--softmax-type", "learnable")] if s.flag("model.attention_sinks") else []
    return [*found, *_windows(e)]


def _windows(e: Estimate) -> Arguments:
    """Keys to the left of a token beside itself, and which layers see no more: `is_layer_window_attention` of core 0.20.0."""
    kinds, window = e.situation.value("model.layer_types") or (), e.situation.value("model.sliding_window")
    windowed = [kind == "sliding_attention" for kind in kinds]
    if any(kind not in ("full_attention", "sliding_attention") for kind in kinds) or (window and not any(windowed)):
        raise ExportError(
            "model.layer_types: windows that no layer has, or chunks, have no Megatron argument known here"
        )
    if not any(windowed):
        return []
    listed = f"[{','.join('1' if one else '0' for one in windowed)}]"
    return [("--window-size", f"{whole(e, 'model.sliding_window') - 1},0"), ("--window-attn-skip-freq", listed)]


def experts_arguments(e: Estimate) -> Arguments:
    """Experts, their widths and in which layers they are; none for a dense model."""
    if not e.situation.value("model.moe.num_experts"):
        return []
    s, dense = e.situation, int(e.situation.value("model.moe.first_k_dense_replace") or 0)
    found: Arguments = [
        ("--num-experts", f"{whole(e, 'model.moe.num_experts')}"),
        ("--moe-router-topk", f"{whole(e, 'model.moe.num_experts_per_tok')}"),
        ("--moe-ffn-hidden-size", f"{whole(e, 'model.moe.moe_intermediate_size')}"),
    ]
    shared = int(s.value("model.moe.num_shared_experts") or 0)
    if shared:
        width = s.value("model.moe.shared_expert_intermediate_size") or s.value("model.moe.moe_intermediate_size")
        found.append(("--moe-shared-expert-intermediate-size", f"{shared * int(width)}"))
    found += flag(s.flag("model.moe.shared_expert_gate"), "--moe-shared-expert-gate")
    every, kinds = int(s.value("model.moe.moe_layer_freq") or 1), s.value("model.mlp_layer_types")
    if kinds:
        found.append(("--moe-layer-freq", f"[{','.join('1' if kind == 'sparse' else '0' for kind in kinds)}]"))
    elif dense and every == 1:
        found.append(("--moe-layer-freq", f"([0]*{dense}+[1]*{whole(e, 'model.num_hidden_layers') - dense})"))
    elif every > 1:
        found.append(("--moe-layer-freq", f"{every}"))
    return found + _groups(e)


def _groups(e: Estimate) -> Arguments:
    """Node-limited routing, where the preset routes so: what the transfers of experts were estimated with."""
    names = {"--moe-router-num-groups": "groups", "--moe-router-group-topk": "groups_per_token"}
    told = [(name, e.situation.preset_fact(f"routing.{key}")) for name, key in names.items()]
    return [(name, f"{int(value)}") for name, value in told if value is not None]


def latent_arguments(e: Estimate) -> Arguments:
    """Multi-head latent attention; none where the plan has no such table.

    The norms of the latent ranks, which a plan counts, are there only where `qk_layernorm` is set: gpt_layer_specs.py of
    Megatron core, as the trial that found it read; not read again here.
    """
    s = e.situation
    if not s.value("model.mla.kv_lora_rank"):
        return []
    names = {
        "--q-lora-rank": "q_lora_rank",
        "--kv-lora-rank": "kv_lora_rank",
        "--qk-head-dim": "qk_nope_head_dim",
        "--qk-pos-emb-head-dim": "qk_rope_head_dim",
        "--v-head-dim": "v_head_dim",
    }
    told = [(name, s.value(f"model.mla.{field}")) for name, field in names.items()]
    norms = flag(not s.flag("model.qk_norm"), "--qk-layernorm")  # which the attention of heads says for itself
    return [("--multi-latent-attention", ""), *norms, *((name, f"{int(value)}") for name, value in told if value)]
