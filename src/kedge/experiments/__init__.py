"""Experiments: resumable tasks on a local pool or on Ray, and reports from their files.

A kill at any moment loses at most the running tasks. Another run resumes from there, and the report
is the same to the byte.
"""

from kedge.errors import ExperimentError
from kedge.experiments.experiment import Experiment, Output, Task
from kedge.experiments.reports.report import Column, Report, Table
from kedge.experiments.runner import Engine, Run, run
from kedge.experiments.store import RunInfo, list_runs, load_run, remove_run, runs_folder
from kedge.options import Option

__all__ = [
    "Column",
    "Engine",
    "Experiment",
    "ExperimentError",
    "Option",
    "Output",
    "Report",
    "Run",
    "RunInfo",
    "Table",
    "Task",
    "list_runs",
    "load_run",
    "remove_run",
    "run",
    "runs_folder",
]
