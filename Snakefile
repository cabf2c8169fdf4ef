"""mklearn: from images, features or kernels to a table of methods. `make help` and the README say how to run it."""

from snakemake.utils import min_version

min_version("9.0")


# A study given with --configfile replaces the default one; Snakemake alone would merge the two.
if not workflow.configfiles:

    configfile: "config.yaml"


report: "workflow/report/study.rst"


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
