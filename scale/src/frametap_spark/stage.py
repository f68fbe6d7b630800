"""A stage of tasks: one for each item, retried by Spark, with progress on standard error."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from .errors import Refusal, say

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Item = TypeVar("Item")
Result = TypeVar("Result")

#: Seconds between two lines of progress.
PROGRESS = 10


def run_stage(spark: SparkSession, name: str, task: Callable[[Item], Result], items: list[Item]) -> list[Result]:
    """What the task gives for each item, in their order. Of a task that ran twice, one result counts."""
    if not items:
        return []
    with _progress(spark, name, len(items)):
        try:
            return spark.sparkContext.parallelize(items, len(items)).map(task).collect()
        except Exception as error:
            raise Refusal(f"{name} failed, and no table was changed: {_cause(error)}") from error


@contextmanager
def _progress(spark: SparkSession, name: str, tasks: int) -> Iterator[None]:
    over = threading.Event()
    tracker = spark.sparkContext.statusTracker()

    def report() -> None:
        while not over.wait(PROGRESS):
            stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            say(f"{name}: {sum(stage.numCompletedTasks for stage in stages if stage)} of {tasks} tasks done")

    thread = threading.Thread(target=report, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _cause(error: Exception) -> str:
    """The last line of the worker's Python, which says what was wrong."""
    text = str(getattr(error, "java_exception", error))
    causes = re.findall(r"^(?:[\w.]*(?:Error|Exception|Refusal)): (.*)$", text, re.MULTILINE)
    return causes[-1] if causes else text.splitlines()[0]
