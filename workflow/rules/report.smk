# The page that people read, with its tables and figures, and the record of the run.


rule run_record:
    input:
        scores=targets.path("{study}/scores.parquet"),
    output:
        record=targets.path("{study}/run.json"),
    log:
        targets.log("{study}/run_record.log"),
    localrule: True
    conda:
        "../../envs/mklearn.yaml"
    params:
        spec=targets.run_spec(),
    message:
        "Recording versions, machine and command"
    script:
        "../scripts/run_record.py"


rule report:
    input:
        scores=targets.path("{study}/scores.parquet"),
        summary=targets.path("{study}/summary.parquet"),
        record=targets.path("{study}/run.json"),
        models=targets.all_models(),
        samples=targets.all_samples(),
    output:
        page=report(
            targets.path("{study}/report/index.html"),
            caption="../report/page.rst",
            category="Results",
        ),
    log:
        targets.log("{study}/report.log"),
    localrule: True
    conda:
        "../../envs/mklearn.yaml"
    threads: 2
    params:
        spec=targets.report_spec(),
        code=targets.code("report"),
    message:
        "Writing the report"
    script:
        "../scripts/report.py"
