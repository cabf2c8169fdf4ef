# The study and its jobs, read once, and what follows from them for all rules.
#
# A rule has the name of its script, whose function has the names of the rule's inputs and outputs. What depends on the
# study is asked from two objects (src/mklearn/study/jobs.py, resources.py):
#
#   jobs.params("fit")      specification of a job and fingerprint of its code: `spec` and `code`. The function takes the
#                           specification value by value, or whole if it has a parameter `spec`.
#   requests.of("fit")      memory, run time and licences
#   jobs.labels             input functions. Of {dataset}: dataset_files, samples_as_read, samples (at their final size),
#                           labels; and of {protocol}: split_files, reference_labels (of the data set whose splits this
#                           one has). Of {dataset}, {descriptor}: samples_to_describe, learned, feature_parts; and of
#                           {measure}: compared. Of {dataset}, {protocol}, {landmark_set}: landmark_features; and of
#                           {part}: block_features. Of {dataset}, {protocol}, {method}: fit_inputs.
#   jobs.all_features       the files of all jobs of a kind; also all_samples, all_predictions, all_models
#
# <results> is the folder of the study's results, <study> its name. docs/maintainers.md adds a rule step by step.

import os
import shlex
import sys

from mklearn.study.engine.opening import open_study
from mklearn.study.resources import Requests

jobs = open_study(config, workflow)
requests = Requests(jobs)


pathvars:
    results=jobs.results,
    study=jobs.study,


wildcard_constraints:
    **jobs.wildcard_constraints(),


# Snakemake 9.27 writes the path of Python into shell commands as it is. Quoted, it names no file.
if os.path.exists(sys.executable):
    sys.executable = shlex.quote(sys.executable)
