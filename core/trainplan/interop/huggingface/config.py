"""A Hugging Face config.json as a plan's [model] table, in full: never a preset, never a guess.

Every spelling of the architectures in `families` is read, with the defaults that their classes have in transformers.
What the file does not say is left out. Keys that were not read are listed; what contradicts itself is said in words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from trainplan.interop.huggingface.experts import expert_fields
from trainplan.interop.huggingface.families import ALIASES, FAMILIES, OLDER
from trainplan.interop.huggingface.family import LLAMA, Family, said
from trainplan.interop.huggingface.foreign import foreign
from trainplan.interop.huggingface.layers import CHUNKED, FULL, MOST_LAYERS, SLIDING, layer_types
from trainplan.interop.huggingface.reading import Reading
from trainplan.interop.huggingface.remote import REMOTE_SPECIAL

SIZES: Final = {
    "num_hidden_layers": ("num_hidden_layers", "n_layer", "n_layers", "num_layers"),
    "hidden_size": ("hidden_size", "n_embd", "n_embed", "d_model"),
    "num_attention_heads": ("num_attention_heads", "n_head", "n_heads", "num_heads"),
    "vocab_size": ("vocab_size", "padded_vocab_size"),
    "max_position_embeddings": ("max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "n_ctx"),
}
KEY_HEADS: Final = (
    "num_key_value_heads",
    "num_kv_heads",
    "n_head_kv",
    "multi_query_group_num",
    "attn_config.kv_n_heads",
)
WIDTH: Final = ("prefix_dense_intermediate_size", "intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size")
FOUR_TIMES: Final = ("gpt2", "gpt_bigcode", "gpt_neo", "gptj", "codegen", "bloom", "falcon", "mpt", "phi")
ONE_TO_ONE: Final = ("gpt2", "gpt_neo", "gpt_neox", "gptj", "codegen", "opt", "bloom", "persimmon", "qwen", "baichuan")
LATENT: Final = ("q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")
NESTED: Final = ("text_config", "llm_config", "language_config")


@dataclass(frozen=True, slots=True)
class Imported:
    """The [model] table that a file says, keys that were not read, what a person has to know, and what is wrong."""

    model: dict[str, Any]
    unknown: tuple[str, ...]
    notes: tuple[str, ...]
    problems: tuple[str, ...]


def model_of_config(config: Mapping[str, Any]) -> Imported:
    """The plan's [model] table of one config.json; `problems` is empty where the file is consistent."""
    inner, notes = _text_model(config)
    written = str(inner.get("model_type", ""))
    kind = ALIASES.get(written, written)
    family = FAMILIES.get(kind)
    reading = Reading(inner, {**(family.defaults if family else {}), **OLDER.get(written, {})})
    reading.notes.extend(notes)
    reading.problems.extend(foreign(reading, kind, known=family is not None))
    if family is None:
        family = _unknown_family(reading, kind)
    model = _sizes(reading, kind) | _structure(reading, kind, family)
    model |= expert_fields(reading, family, model) | _latent(reading) | _prediction(reading)
    model |= _layers(reading, family, model)
    _indexed(reading)
    _contradictions(reading, model)
    return Imported(_tidy(model), reading.unused(), tuple(reading.notes), tuple(reading.problems))


def _text_model(config: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[str]]:
    """The text model inside a model of several kinds of input, with what only the outer file says of it."""
    for name in NESTED:
        inner = config.get(name)
        if isinstance(inner, Mapping):
            outer = {key: config[key] for key in ("model_type", "tie_word_embeddings") if key in config}
            return {**outer, **cast("Mapping[str, Any]", inner)}, [f"The text model in {name} was read, nothing else."]
    return config, []


def _unknown_family(reading: Reading, kind: str) -> Family:
    reading.notes.append(
        f"model_type {kind or 'is missing'}: not known here. It was read as Llama's; biases and norms may differ."
    )
    return Family(LLAMA, "every" if reading.value("layer_types") is None else "listed", "leading")


def _sizes(reading: Reading, kind: str) -> dict[str, Any]:
    found: dict[str, Any] = {field: reading.count(*names) for field, names in SIZES.items()}
    found["intermediate_size"] = _width(reading, kind, found["hidden_size"])
    found["num_key_value_heads"] = _key_heads(reading, kind, found["num_attention_heads"])
    found["head_dim"] = None if reading.value("kv_lora_rank") is not None else reading.count("head_dim", "kv_channels")
    reading.used.update(("head_dim", "kv_channels"))
    width = reading.count("word_embed_proj_dim")
    found["embedding_size"] = width if width != found["hidden_size"] else None
    return found


def _width(reading: Reading, kind: str, hidden: int | None) -> int | None:
    if kind == "mpt" and hidden is not None:
        return (reading.count("expansion_ratio") or 4) * hidden
    if kind == "llama4_text":
        reading.used.add("intermediate_size")
        return reading.count("intermediate_size_mlp")
    width = None if kind == "bloom" else reading.count(*WIDTH)
    if kind == "qwen" and width is not None:
        return width // 2
    return 4 * hidden if width is None and hidden is not None and kind in FOUR_TIMES else width


def _key_heads(reading: Reading, kind: str, heads: int | None) -> int | None:
    if kind in ONE_TO_ONE:
        return None
    listed = reading.count(*KEY_HEADS)
    if kind == "chatglm":
        return listed if reading.flag("multi_query_attention", False) else heads
    if kind == "falcon":
        reading.used.add("multi_query")
        if reading.flag("new_decoder_architecture", False):
            return listed
        return 1 if reading.flag("multi_query", True) else heads
    if kind == "gpt_bigcode":
        return 1 if reading.flag("multi_query", True) else heads
    return listed


def _structure(reading: Reading, kind: str, family: Family) -> dict[str, Any]:
    """Norms, biases, positions: what the architecture does by itself or the file says."""
    found = {field: said(reading, value) for field, value in family.fields.items() if "." not in field}
    return found | SPECIAL.get(kind, _nothing)(reading)


def _nothing(reading: Reading) -> dict[str, Any]:
    return {}


def _falcon(reading: Reading) -> dict[str, Any]:
    newer = reading.flag("new_decoder_architecture", False)
    norms = reading.count("num_ln_in_parallel_attn") or (2 if newer else 1)
    side = reading.flag("parallel_attn", True)
    position = "alibi" if reading.flag("alibi", False) else "rope"
    return {"norms_per_block": norms if side or newer else 2, "position_embedding": position}


def _mpt(reading: Reading) -> dict[str, Any]:
    bias = not reading.flag("no_bias", True)
    fields = ("attention_bias", "attention_output_bias", "mlp_bias", "norm_bias")
    found: dict[str, Any] = dict.fromkeys(fields, bias)
    if reading.value("attn_config.alibi") is False:
        found["position_embedding"] = "learned" if reading.flag("learned_pos_emb", True) else "none"
    if reading.value("attn_config.qk_ln"):
        found |= {"qk_norm": True, "qk_norm_scope": "projection"}
    reading.used.add("learned_pos_emb")
    return found


def _opt(reading: Reading) -> dict[str, Any]:
    first = reading.flag("do_layer_norm_before", True)
    kept = not reading.flag("_remove_final_layer_norm", False)
    trained = reading.flag("layer_norm_elementwise_affine", True)
    return {"final_norm": first and kept} | ({} if trained else {"norm": "none"})


def _neo(reading: Reading) -> dict[str, Any]:
    return {"sliding_window": reading.count("window_size")}


def _llama4(reading: Reading) -> dict[str, Any]:
    """Its query and key norm has no weights."""
    reading.used.add("use_qk_norm")
    return {}


SPECIAL: Final = REMOTE_SPECIAL | {
    "falcon": _falcon,
    "mpt": _mpt,
    "opt": _opt,
    "gpt_neo": _neo,
    "llama4_text": _llama4,
}


def _latent(reading: Reading) -> dict[str, Any]:
    if reading.value("kv_lora_rank") is None:
        return {}
    return {"mla": {name: reading.count(name) for name in LATENT}, "num_key_value_heads": None}


def _indexed(reading: Reading) -> None:
    """DeepSeek-V3.2 and GLM-5 choose keys by an indexer beside each attention."""
    if reading.value("index_n_heads"):
        reading.used.update(("index_head_dim", "index_topk"))
        reading.notes.append("The indexer that chooses keys is not counted, and attention is taken as dense.")


def _prediction(reading: Reading) -> dict[str, Any]:
    depths = reading.count("num_nextn_predict_layers", "mtp_num_layers", least=0)
    if not depths:
        return {}
    reading.notes.append("Prediction depths are counted. Without [model.mtp] the plan is of the main model alone.")
    return {"mtp": {"num_nextn_predict_layers": depths}}


def _layers(reading: Reading, family: Family, model: Mapping[str, Any]) -> dict[str, Any]:
    depth = model["num_hidden_layers"]
    if depth is not None and depth > MOST_LAYERS:
        reading.problems.append(f"num_hidden_layers is {depth}. At most {MOST_LAYERS} is right.")
        depth = None
    window = model.get("sliding_window") or reading.count("sliding_window", least=0)
    words = layer_types(reading, family.windows, depth) if depth is not None else ()
    chunk = reading.count("attention_chunk_size", least=0)
    reading.used.update(("use_sliding_window", "max_window_layers", "sliding_window_pattern"))
    found: dict[str, Any] = {"layer_types": list(words) if set(words) - {FULL} else None}
    for field, value, kind in (("sliding_window", window, SLIDING), ("attention_chunk_size", chunk, CHUNKED)):
        found[field] = value if kind in words else None
        if kind in words and value == 0:
            reading.problems.append(f"{field} is 0, and layers use it. A whole number from 1 is right.")
    return found


def _contradictions(reading: Reading, model: Mapping[str, Any]) -> None:
    for field in ("num_hidden_layers", "hidden_size", "num_attention_heads", "vocab_size"):
        if model.get(field) is None and not any(field in problem for problem in reading.problems):
            reading.problems.append(f"There is no {field}, also not under another name: {', '.join(SIZES[field])}.")
    hidden, heads, groups = (model.get(name) for name in ("hidden_size", "num_attention_heads", "num_key_value_heads"))
    if hidden and heads and not model.get("head_dim") and "mla" not in model and hidden % heads:
        reading.problems.append(
            f"hidden_size {hidden} is not a multiple of num_attention_heads {heads}; no head_dim is given."
        )
    if heads and groups and heads % groups:
        reading.problems.append(f"num_attention_heads {heads} is not a multiple of num_key_value_heads {groups}.")
    size = reading.value("v_head_dim")
    if size is not None and "mla" not in model and size != model.get("head_dim"):
        reading.problems.append(
            f"v_head_dim is {size!r}. A plan knows values of another size in latent attention alone."
        )
    experts = model.get("moe", {})
    most, chosen = experts.get("num_experts"), experts.get("num_experts_per_tok")
    if most and chosen and chosen > most:
        reading.problems.append(f"num_experts_per_tok {chosen} is above the number of experts, {most}.")


DEFAULTS: Final = {
    "norm": "rmsnorm",
    "position_embedding": "rope",
    "gated_mlp": True,
    "final_norm": True,
    "qk_norm_scope": "head",
}

FORMAT: Final = {
    **{f"model.{name}": value for name, value in DEFAULTS.items() if name != "qk_norm_scope"},
    **dict.fromkeys(
        (
            "model.attention_bias",
            "model.attention_output_bias",
            "model.mlp_bias",
            "model.qk_norm",
            "model.embedding_norm",
            "model.parallel_block",
            "model.post_norms",
        ),
        False,
    ),
}
"""What the fields mean that an import leaves out, by path."""


def _tidy(model: Mapping[str, Any]) -> dict[str, Any]:
    """Without what is not said and what the plan format means by an absent field, tables last."""
    kept = {key: value for key, value in model.items() if not isinstance(value, dict) and speaks(key, value)}
    if not kept.get("qk_norm"):
        kept.pop("qk_norm_scope", None)
    for table in ("moe", "mla", "mtp"):
        if table in model:
            kept[table] = {
                key: value for key, value in model[table].items() if value is not None and value is not False
            }
    return kept


def speaks(key: str, value: Any) -> bool:
    """Whether a field of a model says something that its absence does not."""
    if value is None or (value is False and key not in ("tie_word_embeddings", "gated_mlp", "final_norm", "norm_bias")):
        return False
    return DEFAULTS.get(key) != value
