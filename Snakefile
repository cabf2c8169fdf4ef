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


# Not in a dry run: locks, what a killed run left in SLURM, the environment of jobs.
onstart:
    from mklearn.study.engine.session import begin

    begin(workflow, targets.plan.study.mirror)


# The answer, where the run wrote a report.
onsuccess:
    from mklearn.study.engine.session import show_answer

    show_answer(workflow, targets.path("report"), targets.path("final_model"))


# Jobs failed: the tables without their fits, with a row and a reason for each.
onerror:
    from mklearn.study.engine.lost_fits import report_lost_fits

    report_lost_fits(targets, workflow)


include: "workflow/rules/common.smk"
include: "workflow/rules/stages.smk"


rule all:
    default_target: True
    input:
        targets.everything(),


rule data:
    input:
        targets.samples(),


rule kernels:
    input:
        targets.all_of("pairwise"),


rule fits:
    input:
        targets.all_of("fit_scores"),
