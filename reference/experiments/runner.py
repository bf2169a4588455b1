"""Many runs: those of one split together, splits on several cores, finished runs into the store."""

from __future__ import annotations

from collections.abc import Sequence

from joblib import delayed
from threadpoolctl import threadpool_limits

from reference.common.errors import ReadingError
from reference.common.workers import parallel
from reference.experiments.splits import SplitSpec
from reference.experiments.store import RunStore
from reference.experiments.study import RunResult, RunSpec, run
from reference.experiments.watch import NOBODY, Watch, in_turn


def run_all(
    specs: Sequence[RunSpec], store: RunStore | None = None, *, jobs: int = 1, watch: Watch = NOBODY
) -> dict[RunSpec, RunResult]:
    """Return the result of every run, from the store if it is there.

    Parameters
    ----------
    specs : sequence of RunSpec
        Duplicates are run once.
    store : RunStore, optional
        Finished runs are added as soon as those of their split are done.
    jobs : int
        Processes; the results do not depend on it.
    watch : Watch
        Told of each run.
    """
    if jobs < 1:
        raise ReadingError("jobs", jobs, "at least 1")
    wanted = list(dict.fromkeys(specs))
    results = {} if store is None else {spec: store[spec] for spec in wanted if spec in store}
    batches = in_batches([spec for spec in wanted if spec not in results])
    watch.expect(sum(len(batch) for batch in batches))
    # unordered: a finished split need not wait for a slower one that began earlier
    pool = parallel(jobs, return_as="generator_unordered", batch_size=1)
    for finished in in_turn(pool(delayed(run_batch)(batch) for batch in batches)):
        if store is not None:
            store.add(finished)
        for spec, result in finished:
            results[spec] = result
            watch.released(spec.mechanism)
    return {spec: results[spec] for spec in wanted}


def in_batches(specs: Sequence[RunSpec]) -> list[list[RunSpec]]:
    """Return the runs split by split, those of one encoded data set after each other."""
    batches: dict[SplitSpec, list[RunSpec]] = {}
    for spec in specs:
        batches.setdefault(spec.on, []).append(spec)
    return [batches[on] for on in sorted(batches, key=repr)]


def run_batch(batch: Sequence[RunSpec]) -> list[tuple[RunSpec, RunResult]]:
    """Run what shares a split, with one thread: sums must not depend on the number of threads."""
    with threadpool_limits(limits=1):
        return [(spec, run(spec)) for spec in batch]
