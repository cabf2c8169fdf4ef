"""mklearn: from images, features or kernels to a table of methods. `make help` and the README say how to run it."""

from mklearn.study.engine.session import readable
from snakemake.utils import min_version

min_version("9.18")  # pathvars in modules


# A study given with --configfile replaces the default one; Snakemake alone would merge the two. `readable` ends the run
# with a message if the file is not valid YAML.
if not workflow.configfiles:

    configfile: readable("config.yaml")


# Used only with --software-deployment-method apptainer; envs/apptainer.def describes the build.
container: "envs/mklearn.sif"


report: "workflow/report/study.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/kernels.smk"
include: "workflow/rules/fits.smk"
include: "workflow/rules/results.smk"


rule all:
    "All results of the study."
    default_target: True
    input:
        jobs.everything,
    message:
        "All results of the study"


# Snakemake does not run the three handlers below for a module of another Snakefile: there, check the study first, with
# `mklearn validate`.
#
# Not in a dry run: check the parameters of methods, lock the results folder, set up the environment of jobs.
onstart:
    from mklearn.study.engine.session import begin

    begin(jobs)


# Print the answer of the study if the run wrote its page.
onsuccess:
    from mklearn.study.engine.session import show_answer

    show_answer(workflow, jobs)


# Report the failed jobs with their reasons, and write the tables of the other fits.
onerror:
    from mklearn.study.engine.failures import report_failed_run

    report_failed_run(jobs, workflow)
