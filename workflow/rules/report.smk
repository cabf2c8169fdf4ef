# The page that people read, with its tables and figures, and the record of the run.


rule run_record:
    input:
        scores=targets.path("scores"),
    output:
        record=targets.path("run_record"),
    log:
        targets.log("run_record"),
    localrule: True
    conda:
        "../../envs/mklearn.yaml"
    params:
        spec=targets.spec("run_record"),
    message:
        "Recording versions, machine and command"
    script:
        "../scripts/step.py"


rule report:
    input:
        scores=targets.path("scores"),
        summary=targets.path("summary"),
        predictions=targets.path("predictions"),
        record=targets.path("run_record"),
        models=targets.all_models(),
        samples=targets.all_samples(),
    output:
        page=report(
            targets.path("report"),
            caption="../report/page.rst",
            category="Results",
        ),
    log:
        targets.log("report"),
    localrule: True
    conda:
        "../../envs/mklearn.yaml"
    params:
        spec=targets.spec("report"),
        code=targets.code("report"),
    message:
        "Writing the report"
    script:
        "../scripts/step.py"
