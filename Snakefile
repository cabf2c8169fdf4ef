"""mklearn: from images, features or kernels to a table of methods. `make help` and the README say how to run it."""

from mklearn.study.stages.targets import readable
from snakemake.utils import min_version

min_version("9.0")


# A study given with --configfile replaces the default one; Snakemake alone would merge the two.
if not workflow.configfiles:

    configfile: readable("config.yaml")


# Used with --software-deployment-method apptainer only; envs/apptainer.def says how it is built.
container: "envs/mklearn.sif"


report: "workflow/report/study.rst"


# Not in a dry run: the lock of the results, the environment of jobs.
onstart:
    from mklearn.study.engine.session import begin

    begin(targets)


# The answer, where the run wrote a report.
onsuccess:
    from mklearn.study.engine.session import show_answer

    show_answer(workflow, targets)


# Jobs failed: the tables of the other fits.
onerror:
    from mklearn.study.engine.failed_run import report_failed_run

    report_failed_run(targets, workflow)


include: "workflow/rules/common.smk"
include: "workflow/rules/stages.smk"


rule all:
    default_target: True
    input:
        targets.everything,
    message:
        "All results of the study"


rule data:
    input:
        targets.samples(),


rule kernels:
    input:
        targets.all_of("pairwise"),


rule fits:
    input:
        targets.all_of("fit_scores"),
