"""The record that every budget is; `trainplan.frozen` says what it costs and what it refuses."""

from __future__ import annotations

from trainplan.frozen import record

__all__ = ["record"]
