"""The shape of a model as Megatron's arguments say it, with what Megatron itself takes where they are silent.

Names and defaults: NVIDIA/Megatron-LM d98e8a6 (training/arguments.py, core/transformer/transformer_config.py);
bigscience-workshop/Megatron-DeepSpeed 8387ae1 and microsoft/Megatron-DeepSpeed f4157be (megatron/arguments.py). A shape that a
plan cannot say is refused in words.
"""

from __future__ import annotations

from typing import Final

from trainplan.interop.huggingface.layers import MOST_LAYERS
from trainplan.interop.launchers.megatron.experts import experts
from trainplan.interop.launchers.megatron.patterns import pattern_of
from trainplan.interop.launchers.megatron.saying import Saying

SHAPE: Final = ("num_layers", "encoder_num_layers", "hidden_size", "num_attention_heads", "ffn_hidden_size")
"""Options of which a file that says a model has some."""

_POSITIONS: Final = {
    "learned_absolute": "learned",
    "absolute": "learned",
    "rope": "rope",
    "rotary": "rope",
    "yarn": "rope",
    "mrope": "rope",
    "alibi": "alibi",
    "none": "none",
    "relative": "relative",
}
_NORMS: Final = {"LayerNorm": "layernorm", "RMSNorm": "rmsnorm", "layernorm": "layernorm", "rmsnorm": "rmsnorm"}
_FOREIGN: Final = {
    "hybrid_layer_pattern": "layers that are not attention and MLP",
    "hybrid_override_pattern": "layers that are not attention and MLP",
    "mtp_hybrid_override_pattern": "layers that are not attention and MLP",
    "experimental_attention_variant": "an attention that a plan does not know",
    "linear_attention_type": "an attention that a plan does not know",
    "language_model_type": "a model of images beside the text",
    "vision_model_type": "a model of images beside the text",
    "hybrid_attention_ratio": "layers that are not attention and MLP",
    "hybrid_mlp_ratio": "layers that are not attention and MLP",
    "is_hybrid_model": "layers that are not attention and MLP",
    "moe_latent_size": "experts that work at another width",
    "enable_mhc_connections": "residual streams with weights of their own",
    "num_experts_switch": "experts that take the place of MLPs in another way",
    "heterogeneous_layers_config_path": "layers with shapes of their own",
    "heterogeneous_layers_config_encoded_json": "layers with shapes of their own",
    "decoder_num_layers": "an encoder beside the decoder",
}
"""Options that a plan cannot say, and what they are about."""

_LATENT: Final = {
    "q_lora_rank": ("q_lora_rank", None),
    "kv_lora_rank": ("kv_lora_rank", 32),
    "qk_head_dim": ("qk_nope_head_dim", 128),
    "qk_pos_emb_head_dim": ("qk_rope_head_dim", 64),
    "v_head_dim": ("v_head_dim", 128),
}


def shape(s: Saying) -> None:
    """Everything under `model.`; nothing where no option speaks of a model."""
    a = s.arguments
    a.used.update(("encoder_num_layers", "encoder_seq_length"))
    if not any(a.has(name) for name in SHAPE):
        return
    for name, what in _FOREIGN.items():
        if a.has(name) and not (
            a.listing and (name == "decoder_num_layers" or a.names[name].values[0].text in ("False", "0.0"))
        ):
            s.problem(name, f"{a.names[name].words}: {what}. A plan cannot say it")
    layers = s.count("model.num_hidden_layers", "num_layers" if a.has("num_layers") else "encoder_num_layers")
    if layers is not None and layers > MOST_LAYERS:
        s.problem("num_layers", f"--num-layers is {layers:,}. At most {MOST_LAYERS:,} is right")
        return
    hidden = s.count("model.hidden_size", "hidden_size")
    gated = _gate(s)
    width = _width(s, hidden, gated)
    _heads(s, hidden)
    _vocabulary(s)
    s.count("model.max_position_embeddings", "max_position_embeddings")
    _structure(s)
    experts(s, layers, width)
    _windows(s, layers)
    depths = a.count("mtp_num_layers", 0)
    if depths:
        s.given("model.mtp.num_nextn_predict_layers", "mtp_num_layers", depths)


def _gate(s: Saying) -> bool | None:
    a = s.arguments
    if a.has("glu_activation"):
        s.given("model.gated_mlp", "glu_activation", True)
        return False  # its width is four times the model's, as without a gate
    name = "quick_geglu" if a.flag("quick_geglu") else "swiglu"
    gated = s.flag("model.gated_mlp", name, "no --swiglu")
    return gated and name == "swiglu"


def _width(s: Saying, hidden: int | None, gated: bool | None) -> int | None:
    """`int((4 * h * 2 / 3) / 64) * 64` with --swiglu, else four times the model's: validate_args."""
    a = s.arguments
    width = s.count("model.intermediate_size", "ffn_hidden_size")
    if a.has("ffn_hidden_size") or a.open("ffn_hidden_size") or hidden is None or gated is None:
        return width
    width = int((4 * hidden * 2 / 3) / 64) * 64 if gated else 4 * hidden
    s.taken("model.intermediate_size", width, f"no --ffn-hidden-size, {'with' if gated else 'without'} --swiglu")
    return width


def _heads(s: Saying, hidden: int | None) -> None:
    a = s.arguments
    heads = s.count("model.num_attention_heads", "num_attention_heads")
    channels = a.count("kv_channels")
    if a.flag("multi_latent_attention"):
        for name, (field, default) in _LATENT.items():
            s.either(f"model.mla.{field}", name, default, f"no --{name.replace('_', '-')}", a.count(name))
        a.used.update(("group_query_attention", "num_query_groups"))
        return
    if channels and hidden and heads and channels * heads != hidden:
        s.given("model.head_dim", "kv_channels", channels)
    elif hidden and heads and hidden % heads and not a.has("kv_channels") and not a.open("kv_channels"):
        s.problem(
            "num_attention_heads",
            f"--hidden-size {hidden} is no multiple of --num-attention-heads {heads}. "
            "Heads that divide it, or --kv-channels, are right",
        )
    _groups(s, heads)


def _groups(s: Saying, heads: int | None) -> None:
    a = s.arguments
    name = "num_key_value_heads" if a.has("num_key_value_heads") else "num_query_groups"
    groups = a.count(name)
    if name == "num_query_groups" and not a.flag("group_query_attention"):
        if a.has(name) and not a.listing:
            s.note(name, f"{a.names[name].words} has no effect without --group-query-attention")
        return
    if heads and groups and heads % groups:
        s.problem(
            name,
            f"--num-attention-heads {heads} is no multiple of {a.names[name].words}. Groups that divide the heads are right",
        )
        return
    if groups is not None:
        s.given("model.num_key_value_heads", name, groups)
    elif not a.open(name):
        s.taken("model.num_key_value_heads", 1, "--group-query-attention without --num-query-groups")


def _vocabulary(s: Saying) -> None:
    a = s.arguments
    size = a.count("vocab_size")
    if size is not None:
        s.given("model.vocab_size", "vocab_size", size)
    padded = next((name for name in ("pad_vocab_size_to", "padded_vocab_size") if a.count(name)), "")
    if size is None and not a.open("vocab_size"):
        if padded:
            s.given("run.padded_vocabulary", padded, a.count(padded))
        else:
            s.telling.say("run.no_vocabulary", True, s.place, "no --vocab-size", implied=True)


def _structure(s: Saying) -> None:
    a = s.arguments
    untied = a.flag("untie_embeddings_and_output_weights")
    words = "no --untie-embeddings-and-output-weights"
    if untied is not None:
        s.either("model.tie_word_embeddings", "untie_embeddings_and_output_weights", True, words, not untied)
    kind = _NORMS.get(a.word("normalization", _NORMS) or "")
    s.either("model.norm", "normalization", "layernorm", "no --normalization", kind)
    _positions(s)
    bias = s.flag("model.mlp_bias", "add_bias_linear", "no --disable-bias-linear", default=True)
    for field in ("attention_bias", "attention_output_bias"):
        s.flag(f"model.{field}", "add_bias_linear", "no --disable-bias-linear", default=True)
    if a.flag("add_qkv_bias") and not bias:
        s.given("model.attention_bias", "add_qkv_bias", True)
    if a.flag("multi_latent_attention"):
        a.used.add("qk_layernorm")  # it normalises the ranks there, which a plan's latent attention does by itself
    elif s.flag("model.qk_norm", "qk_layernorm", "no --qk-layernorm") and kind != "rmsnorm":
        s.given("model.qk_norm_bias", "qk_layernorm", True)
    if a.flag("attention_output_gate"):
        s.given("model.attention_gate", "attention_output_gate", "element")
    if a.word("softmax_type", ("vanilla", "off-by-one", "learnable")) == "learnable":
        s.given("model.attention_sinks", "softmax_type", True)
    if a.flag("embed_layernorm"):
        s.given("model.embedding_norm", "embed_layernorm", True)


def _positions(s: Saying) -> None:
    a = s.arguments
    rotary, added = a.flag("use_rotary_position_embeddings"), a.flag("add_position_embedding", default=True)
    kind = _POSITIONS.get(a.word("position_embedding_type", _POSITIONS) or "")
    if rotary and kind != "relative":
        s.given("model.position_embedding", "use_rotary_position_embeddings", "rope")
    elif kind == "relative":
        s.problem(
            "position_embedding_type", "--position-embedding-type relative is an attention bias. A plan cannot say it"
        )
    elif kind is None and added is False and rotary is False and not a.open("position_embedding_type"):
        s.given("model.position_embedding", "add_position_embedding", "none")
    else:
        s.either("model.position_embedding", "position_embedding_type", "learned", "no --position-embedding-type", kind)


def _windows(s: Saying, layers: int | None) -> None:
    """`is_layer_window_attention` of core/transformer/utils.py: all layers, all but every Nth, or a list of them."""
    a = s.arguments
    token, skip = a.token("window_size"), a.token("window_attn_skip_freq")
    if token is None or layers is None:
        return
    sides = token.text.strip("()").replace(" ", "").split(",")
    if len(sides) != 2 or not all(side.lstrip("-").isdigit() for side in sides):
        s.problem("window_size", f"--window-size is {token.text[:40]!r}. Two whole numbers with a comma are right")
        return
    if int(sides[0]) < 0:
        return
    every = int(skip.text) if skip is not None and skip.text.isdigit() else None
    listed = pattern_of(skip.text) if skip is not None and every is None else None
    if skip is not None and ((every is None and listed is None) or every == 0 or (listed and len(listed) != layers)):
        s.problem(
            "window_attn_skip_freq",
            f"--window-attn-skip-freq is {skip.text[:60]!r}. A number, or a list of {layers}, is right",
        )
        return
    windowed = [bool(listed[n]) if listed else every is None or bool((n + 1) % every) for n in range(layers)]
    s.given("model.sliding_window", "window_size", int(sides[0]) + 1)
    kinds = ["sliding_attention" if one else "full_attention" for one in windowed]
    s.given("model.layer_types", "window_size", kinds)
