"""mklearn: from images, features or kernels to a table of methods. `make help` and the README say how to run it."""

from mklearn.engine.lost_jobs import after_failure
from snakemake.utils import min_version

min_version("9.0")


# A study given with --configfile replaces the default one; Snakemake alone would merge the two.
if not workflow.configfiles:

    configfile: "config.yaml"


# Used with --software-deployment-method apptainer only; envs/apptainer.def says how it is built.
container: "envs/mklearn.sif"


report: "workflow/report/study.rst"


# Jobs that died: the tables without them, with a row and a reason for each.
onerror:
    after_failure(targets, workflow)


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/descriptors.smk"
include: "workflow/rules/kernels.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/evaluate.smk"
include: "workflow/rules/report.smk"


rule all:
    default_target: True
    input:
        targets.everything(),


rule data:
    input:
        targets.data(),


rule kernels:
    input:
        targets.kernels(),


rule fits:
    input:
        targets.fits(),
