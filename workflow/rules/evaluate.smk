# The study's tables: every score, and the summary of each method.


rule scores:
    input:
        fits=targets.all_scores(),
    output:
        table=targets.path("{study}/scores.parquet"),
    log:
        targets.log("{study}/scores.log"),
    localrule: True
    conda:
        "../../envs/mklearn.yaml"
    params:
        spec=targets.scores_spec(),
        code=targets.code("scores"),
    message:
        "Collecting the score table"
    script:
        "../scripts/scores.py"


rule summary:
    input:
        scores=targets.path("{study}/scores.parquet"),
    output:
        table=targets.path("{study}/summary.parquet"),
    log:
        targets.log("{study}/summary.log"),
    localrule: True
    conda:
        "../../envs/mklearn.yaml"
    params:
        spec=targets.summary_spec(),
        code=targets.code("summary"),
    message:
        "Summarising the scores"
    script:
        "../scripts/summary.py"
