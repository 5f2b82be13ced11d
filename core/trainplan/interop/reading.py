"""One config.json as it is read: which keys were asked for, and what is wrong with what they say.

A key that nothing asked for is listed by the import, never dropped in silence. A value of the wrong kind is a problem in
words, never an exception.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

IGNORED: Final = frozenset(
    """_attn_implementation _attn_implementation_autoset _name_or_path add_cross_attention alibi_bias_max architectures
    attention_dropout attention_softmax_in_fp32 attn_logit_softcapping attn_pdrop attn_implementation attn_scale
    attn_temperature_tuning auto_map aux_loss_alpha bad_words_ids begin_suppress_tokens bos_token_id cache_implementation
    chunk_size_feed_forward classifier_dropout clip_qkv cross_attention_hidden_size decoder_start_token_id dtype
    embd_pdrop emb_pdrop embed_dropout embedding_dropout embedding_multiplier eos_token_id ep_size experts_implementation
    final_logit_softcapping finetuning_task floor_scale for_llm_class hidden_act hidden_activation hidden_dropout
    id2label init_device init_std initializer_range input_jitter_noise is_decoder is_encoder_decoder is_llama_config
    keys_to_ignore_at_inference label2id layer_norm_eps layer_norm_epsilon layerdrop logit_scale logits_scaling
    masked_softmax_fusion mscale n_group norm_eps norm_epsilon norm_topk_prob num_logits_to_keep
    original_max_position_embeddings output_attentions output_hidden_states output_router_logits pad_token_id
    partial_rotary_factor prefix pretraining_tp problem_type pruned_heads quantization_config query_pre_attn_scalar
    qk_head_dim reorder_and_upcast_attn resid_dropout resid_pdrop residual_dropout residual_multiplier return_dict
    rms_norm_eps rope_interleave rope_local_base_freq rope_parameters rope_scaling rope_theta rope_type rotary_dim
    rotary_emb_base rotary_pct routed_scaling_factor router_aux_loss_coef router_jitter_noise scale_attention_softmax_in_fp32
    scale_attn_by_inverse_layer_idx scale_attn_weights scoring_func sep_token_id seq_aux skip_bias_add
    skip_bias_add_qkv slow_but_exact softmax_scale summary_activation summary_first_dropout summary_proj_to_labels
    summary_type summary_use_proj swiglu_alpha swiglu_limit task_specific_params temperature tokenizer_class topk_group
    topk_method torch_dtype torchscript transformers_version use_bidirectional_attention use_cache verbose
    activation activation_function attention_multiplier mup_enabled route_scale eod_token_id moe_norm_min
    apply_residual_connection_post_layernorm embedding_fraction bias_dropout_fusion n_embed unk_index
    no_rope_layers no_rope_layer_interval image_token_id tokenizer_mode norm_type attention_probs_dropout_prob
    attention_dropout_prob scale_emb scale_depth dim_model_base head_dim_default qk_layernorm_eps""".split()
)
"""Keys that change no shape: dropout, initial values, token ids, rotary frequencies, softmax scales."""


class Reading:
    """Values of one config.json by name, with the defaults of its class."""

    def __init__(self, config: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
        self.config, self.defaults = config, defaults
        self.used: set[str] = {"model_type"}
        self.problems: list[str] = []
        self.notes: list[str] = []

    def value(self, *names: str) -> Any:
        """The first of the keys that says something, else a default of the class; null in the file means None."""
        self.used.update(names)
        for name in names:
            found = _at(self.config, name)
            if found is not None:
                return found
        if any(name in self.config for name in names):
            return None
        return next((self.defaults[name] for name in names if name in self.defaults), None)

    def count(self, *names: str, least: int = 1) -> int | None:
        """A whole number; anything else is a problem and None."""
        found = self.value(*names)
        if found is None:
            return None
        if isinstance(found, bool) or not isinstance(found, int | float) or found != int(found) or found < least:
            self.problems.append(f"{names[0]} is {found!r}. A whole number from {least} is right.")
            return None
        return int(found)

    def flag(self, name: str, default: bool) -> bool:
        """True or false; anything else is a problem and the default."""
        found = self.value(name)
        if found is None:
            return default
        if not isinstance(found, bool):
            self.problems.append(f"{name} is {found!r}. true or false is right.")
            return default
        return found

    def unused(self) -> tuple[str, ...]:
        """Keys that nothing asked for and that may say something of the shape; null and false say nothing."""
        asked = {name.split(".")[0] for name in self.used} | IGNORED
        return tuple(key for key, value in self.config.items() if value not in (None, False) and key not in asked)


def _at(source: Mapping[str, Any], name: str) -> Any:
    found: Any = source
    for part in name.split("."):
        if not isinstance(found, Mapping):
            return None
        found = cast("Mapping[str, Any]", found).get(part)
    return found
