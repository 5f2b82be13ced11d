"""Sizes and times of checkpoints."""

from __future__ import annotations

from trainplan.quantity.formula import formula
from trainplan.quantity.numeric import ceil, floor, where

DEFINITION = "definition"


@formula("1", source="Megatron-LM --make-vocab-size-divisible-by")
def padded_parameters(parameters: float, padded: float, vocabulary: float, hidden: float, tables: float) -> float:
    """Parameters with the vocabulary as it is padded for framework and layout; `tables` is 2 where the head is its own."""
    return parameters + (padded - vocabulary) * hidden * tables


@formula("bytes", source="bigscience tr11-176B README: 2.3 TB for 176 B parameters; section 5.2 of the research notes")
def checkpoint_bytes(parameters: float, bytes_per_parameter: float) -> float:
    """One checkpoint: parameters x bytes that the recipe saves of each. Loader and RNG state (MB) are not in it."""
    return parameters * bytes_per_parameter


@formula(
    "s", source="section 5.2 of the research notes: copy of the rank's share to host memory at 25 GB/s", verified=False
)
def asynchronous_stall(floor_time: float, checkpoint: float, world: float, host_copy_rate: float) -> float:
    """Time that training waits for an asynchronous save: barriers and metadata, then each rank's share copied to the host."""
    return floor_time + checkpoint / (world * host_copy_rate)


@formula("s", source="section 5.2 of the research notes: bytes over the bandwidth of the whole system")
def synchronous_stall(floor_time: float, checkpoint: float, write_bandwidth: float) -> float:
    """Time that training waits for a synchronous save: barriers and metadata, then the whole checkpoint written."""
    return floor_time + checkpoint / write_bandwidth


@formula("s", source=DEFINITION)
def transfer_time(size: float, bandwidth: float) -> float:
    """Bytes over bandwidth."""
    return size / bandwidth


@formula("bytes", source=DEFINITION)
def shard_bytes(tokens: float, token_bytes: float, copies: float) -> float:
    """Token shards on the file system: unique tokens x bytes of one x copies."""
    return tokens * token_bytes * copies


@formula("1", source=DEFINITION)
def document_count(tokens: float, length: float) -> float:
    """Documents of a source from its tokens and their mean length."""
    return tokens / length


@formula("bytes", source="Megatron-LM indexed_dataset.py: header 34, 4 + 8 a sequence, 8 a document and one more")
def megatron_index(documents: float) -> float:
    """A source's .idx, one sequence a document: magic 9, version 8, dtype 1, two counts 16; sizes, pointers, document ends."""
    return 34.0 + 4.0 * documents + 8.0 * documents + 8.0 * (documents + 1.0)


@formula("bytes", source="Megatron-LM gpt_dataset.py: document, sample and shuffle index")
def megatron_cache(documents: float, epochs: float, sequences: float, share: float) -> float:
    """What Megatron builds for a source: 4 a document and epoch, 8 a sample and one more (16 past int32), 4 a sample."""
    samples = sequences * share
    pair = where(documents * epochs <= 2147483647.0, 8.0, 16.0)
    return 4.0 * epochs * documents + pair * (samples + 1.0) + 4.0 * samples


@formula("bytes", source="Megatron-LM blended_dataset.py: an int16 source and an int64 sample of it")
def megatron_blend(sequences: float) -> float:
    """Megatron's index of a mixture: 10 bytes a sample."""
    return 10.0 * sequences


@formula("bytes", source="one 64-bit offset a document, as datatrove writes it", verified=False)
def offset_index(documents: float) -> float:
    """An index of document ends."""
    return 8.0 * documents


@formula("bytes", source="product judgement: a line for each shard, and the tokenizer", verified=False)
def manifest_bytes(dataset: float, shard: float, line: float, vocabulary: float, entry: float) -> float:
    """Manifests and tokenizer: path, size and checksum of each shard; text and merge of each vocabulary entry."""
    return dataset / shard * line + vocabulary * entry


@formula("bytes", source=DEFINITION)
def copies_bytes(count: float, size: float) -> float:
    """Bytes of so many checkpoints of one size."""
    return count * size


@formula("1", source=DEFINITION)
def kept_count(train_tokens: float, every: float) -> float:
    """Checkpoints kept for good: one each time so many more tokens are consumed."""
    return floor(train_tokens / every + 1e-9)


@formula("1", source="section 5.2 of the research notes: copies that wait for their upload")
def upload_backlog(upload: float, interval: float) -> float:
    """Checkpoints on the file system until their upload ends: ceil(upload time / interval)."""
    return ceil(upload / interval)


@formula("1", source="section 5.2 of the research notes: the newest, one being written, and those that wait")
def local_count(keep: float, backlog: float) -> float:
    """Full checkpoints on the file system at once, those kept for good left out."""
    return keep + 1.0 + backlog


@formula("1", source=DEFINITION)
def checkpoints_written(compute: float, interval: float) -> float:
    """Checkpoints of the whole run."""
    return ceil(compute / interval)


@formula(
    "bytes",
    source="product judgement: random states of PyTorch, NumPy and Python, and the loader's position",
    verified=False,
)
def rank_state_bytes(world: float, each: float, count: float) -> float:
    """Loader, random and scheduler state of every rank, in each checkpoint on the file system."""
    return world * each * count


@formula("bytes", source="section 5.2 of the research notes: one line a step, of rank 0 alone", verified=False)
def log_bytes(steps: float, line: float) -> float:
    """Logs of the whole run; metrics go elsewhere."""
    return steps * line


@formula("bytes", source="section 5.2 of the research notes: raw outputs of every item", verified=False)
def output_bytes(count: float, items: float, each: float) -> float:
    """Raw outputs of all evaluations, kept."""
    return count * items * each


@formula("bytes", source=DEFINITION)
def usable_space(capacity: float, fraction: float) -> float:
    """Space that may be filled."""
    return capacity * fraction


@formula("1", source=DEFINITION)
def filled_share(peak: float, usable: float) -> float:
    """Most space in use over what may be filled."""
    return peak / usable


@formula("bytes", source="ml-engineering storage chapter: buy 125 for 100")
def needed_capacity(peak: float, fraction: float) -> float:
    """Capacity that holds the peak within its usable share."""
    return peak / fraction


@formula("bytes/s", source=DEFINITION)
def mean_write_rate(checkpoint: float, interval: float) -> float:
    """Bytes of checkpoints written a second, on average."""
    return checkpoint / interval


@formula("bytes/s", source="section 5.2 of the research notes: accelerators x tokens a second x bytes of one")
def loader_bandwidth(world: float, rate: float, token_bytes: float) -> float:
    """What the loaders read on average. Latency and small random reads break first, not this."""
    return world * rate * token_bytes


@formula("1", source="ml-engineering storage chapter: 2,339 files opened to import torch")
def start_up_opens(world: float, each: float) -> float:
    """Files that all ranks open at once when they start."""
    return world * each


@formula("1", source="Megatron-LM asynchronous writer: two files a rank", verified=False)
def checkpoint_files(world: float, each: float, copies: float) -> float:
    """Files of the full checkpoints on the file system."""
    return world * each * copies


@formula("bytes", source="marin pull request 8469: about four times the staged bytes", verified=False)
def staging_memory(checkpoint: float, nodes: float, factor: float) -> float:
    """Host memory of one node that an asynchronous save takes, over the node's share of the checkpoint."""
    return factor * checkpoint / nodes


@formula("bytes", source="Megatron-LM docs dist_optimizer.md; section 3.2 of the research notes")
def saved_bytes_per_parameter(weight: float, master: float, moments: float, moment_bytes: float) -> float:
    """Bytes that a full checkpoint saves of one parameter; gradients are never saved."""
    return weight + master + moments * moment_bytes
