# The study's tables: every score, and the summary of each method.


rule scores:
    input:
        fits=targets.all_scores(),
        predicted=targets.all_predictions(),
    output:
        table=targets.path("scores"),
        predictions=targets.path("predictions"),
    log:
        targets.log("scores"),
    localrule: True
    conda:
        "../../envs/mklearn.yaml"
    params:
        spec=targets.spec("scores"),
        code=targets.code("scores"),
    message:
        "Collecting the score table"
    script:
        "../scripts/step.py"


rule summary:
    input:
        scores=targets.path("scores"),
        predictions=targets.path("predictions"),
    output:
        table=targets.path("summary"),
    log:
        targets.log("summary"),
    localrule: True
    conda:
        "../../envs/mklearn.yaml"
    params:
        spec=targets.spec("summary"),
        code=targets.code("summary"),
    message:
        "Summarising the scores"
    script:
        "../scripts/step.py"
