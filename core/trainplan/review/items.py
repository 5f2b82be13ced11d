"""The ten readiness items: what each asks, what proves it, who signs, and which plan fields and figures make it stale.

Data of the review, from the readiness notes in the project's design notes; an item is confirmed at one pause before the
full run is submitted. It refuses to know whether anybody signed.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from trainplan.frozen import frozen
from trainplan.plan.plan import Plan
from trainplan.review.covers import Covers, Limit, Quantities, covered

DAY: Final = 86_400.0  # s
LASTING: Final = 30  # days that a sign-off or a waiver holds at most


@frozen
class Item:
    """One item. `fields` are paths of the plan (`*` one name), `figures` keys with how far they may rise.

    `waivable` is the most days that a waiver holds; 0 where the item is blocking.
    """

    name: str
    question: str
    checks: tuple[str, ...]
    attested: tuple[str, ...]
    evidence: str
    signer: str
    fields: tuple[str, ...]
    figures: MappingProxyType[str, Limit]
    waivable: int = 0

    @property
    def blocking(self) -> bool:
        return self.waivable == 0


def _item(
    name: str,
    question: str,
    *,
    checks: str,
    attested: str,
    evidence: str,
    signer: str,
    fields: str,
    figures: dict[str, Limit] | None = None,
    waivable: int = 0,
) -> Item:
    return Item(
        name,
        question,
        tuple(checks.split("; ")),
        tuple(attested.split("; ")),
        evidence,
        signer,
        tuple(fields.split()),
        MappingProxyType(figures or {}),
        waivable,
    )


ITEMS: Final = (
    _item(
        "configs",
        "Are the configs and the code revision captured, and can they no longer change?",
        checks="clean tree; revision; submodules; container digest; hash of each config; launch script without rm -rf",
        attested="config resolved and rendered; lock file; environment variables",
        evidence="manifest of path, sha256 and size; commit; image digest",
        signer="tech lead",
        fields="schedule paths model data batch training cluster parallelism utilization memory storage reliability evaluation",
    ),
    _item(
        "data-manifests",
        "Do the manifests hold what the plan says, and did the data owner sign for them?",
        checks="manifest parses; rows; tokens equal the plan; hash",
        attested="licences; version of deduplication; hash of the raw sources",
        evidence="manifests, signed or with an attested name",
        signer="data owner",
        fields="data.sources.*.name data.sources.*.unique_tokens data.sources.*.documents data.sources.*.manifest "
        "data.sources$ data.drawn data.bytes_per_token paths.data paths.manifests",
    ),
    _item(
        "tokenizer",
        "Is this the tokenizer that the data was made with, and does it encode what it has to?",
        checks="sha256 of the file; test vectors; vocabulary fits the padded one; ids fit their type",
        attested="special ids; same hash in each manifest and in the evaluation; policy for document ends",
        evidence="vectors and the log of their result",
        signer="data owner",
        fields="paths.tokenizer model.preset model.vocab_size data.bytes_per_token data.sources.*.tokenizer_sha256",
        figures={"model.padded_vocabulary": Limit()},
    ),
    _item(
        "sample-batches",
        "Did people read decoded batches of every source?",
        checks="dump is present and fresh; U+FFFD; double escapes; repeated n-grams",
        attested="20 sequences of each source with 1 % or more; document joins; masks; label shift; truncation",
        evidence="dump and notes for each source",
        signer="data owner and one other",
        fields="paths.data paths.tokenizer data.sampler data.packing data.document_mask data.sequence_length "
        "data.shuffle data.preprocessing_changed data.sources$ data.drawn data.sources.*.name data.sources.*.manifest "
        "data.sources.*.built data.sources.*.tokenizer_sha256 data.stages.*.sequence_length",
    ),
    _item(
        "contamination",
        "Is contamination of the evaluations measured, and are prompts and harness pinned?",
        checks="report parses; tasks of the report are those of the plan; revision of the harness",
        attested="method and n; snapshot; contaminated count of each task; few-shot seed",
        evidence="report",
        signer="evaluation owner",
        fields="data.sources$ data.drawn data.sources.*.name data.sources.*.manifest data.sources.*.built "
        "data.preprocessing_changed data.ngram_filter evaluation.tasks evaluation.harness_revision",
        waivable=14,
    ),
    _item(
        "measured",
        "Were memory and throughput measured on the hardware of the run?",
        checks="rungs one-device to short-scaled passed; log parses; memory within 10 %; throughput within 5 %",
        attested="worst rank reported; same code and libraries",
        evidence="log with its hash and job id",
        signer="performance owner",
        fields="model batch training parallelism data.sequence_length data.stages.*.sequence_length "
        "data.stages.*.global_batch_sequences cluster.accelerator cluster.nodes "
        "cluster.accelerators_per_node paths.code paths.container",
    ),
    _item(
        "dashboards",
        "Did an injected event fire the alarms on loss scale, gradient norm and update norm?",
        checks="names in the log; age of the alert test",
        attested="alarm acknowledged; watchdog on the log's age; view for each rank; retention",
        evidence="export and the alarm's id",
        signer="on-call lead",
        fields="paths.code training.framework training.precision",
        waivable=7,
    ),
    _item(
        "resume",
        "Did a killed run resume with the same data position?",
        checks="steps go on; consumed samples rise; batch hashes equal; drill at most 30 days old",
        attested="other nodes; from the remote copy; other data-parallel degree where planned",
        evidence="drill record with time, job ids and hashes",
        signer="infrastructure owner",
        fields="data.sampler training.framework training.optimizer training.precision parallelism cluster.nodes "
        "cluster.accelerators_per_node storage.async_checkpoint storage.last_restore_drill paths.checkpoints paths.code",
    ),
    _item(
        "ownership",
        "Who may stop the run, at which numbers, and who is called?",
        checks="fields of the runbook parse; two people; hours covered; end of the rota",
        attested="stop rules; kill and save switch; policy for rollback and skipping",
        evidence="runbook and rota",
        signer="run owner",
        fields="schedule.start schedule.deadline schedule.budget",
    ),
    _item(
        "cost",
        "Are the cost and the capacity buffer approved?",
        checks="accelerator-hours recomputed; cost moved 5 % at most; reservation covers the nodes; contingency 15 % or more",
        attested="the approver knows P90; pilots, evaluations and spares are in the amount",
        evidence="approval with amount, date and approver",
        signer="budget holder",
        fields="cluster.accelerator cluster.nodes cluster.accelerators_per_node cluster.price_per_accelerator_hour "
        "cluster.currency reliability.spare_nodes schedule.start schedule.deadline schedule.budget",
        figures={"compute.cost": Limit(share=0.05), "compute.wall_time": Limit(amount=3 * DAY)},
    ),
)

NAMES: Final = tuple(item.name for item in ITEMS)
BY_NAME: Final = MappingProxyType({item.name: item for item in ITEMS})


def item_covers(item: Item, plan: Plan, quantities: Quantities) -> Covers:
    """What a sign-off of the item made now stands on."""
    return covered(plan, quantities, item.fields, item.figures)


def record_name(plan: str) -> str:
    """The name of the record of all acts about items, beside a plan's file: `PLAN.signoffs.jsonl` of `PLAN.toml`."""
    return f"{plan.removesuffix('.toml')}.signoffs.jsonl"
