# Results: the scores and tables of a study, its model, its page.


rule evaluate:
    "Compute the metrics of all fits from their predictions."
    input:
        fits=jobs.input("evaluate", "fits"),  # predictions of all fits
    output:
        scores="<results>/<study>/scores.parquet",
        predictions="<results>/<study>/predictions.parquet",
    log:
        "logs/evaluate/<study>.log",
    benchmark:
        "logs/evaluate/<study>.tsv"
    localrule: True
    conda:
        "../../envs/mklearn.yaml"
    params:
        **jobs.params("evaluate"),
    script:
        "../scripts/evaluate.py"


rule tables:
    "Summarise the scores: means, paired intervals, published values, verdicts."
    input:
        scores="<results>/<study>/scores.parquet",
        predictions="<results>/<study>/predictions.parquet",
    output:
        summary="<results>/<study>/summary.parquet",
        run="<results>/<study>/run.json",
    log:
        "logs/tables/<study>.log",
    benchmark:
        "logs/tables/<study>.tsv"
    localrule: True
    conda:
        "../../envs/mklearn.yaml"
    params:
        **jobs.params("tables"),
    script:
        "../scripts/tables.py"


rule model:
    "Fit the final method to all samples."
    input:
        samples=jobs.input("model", "samples"),
        splits=jobs.input("model", "splits"),
        sources=jobs.input("model", "sources"),  # features of each view
        learned=jobs.input("model", "learned"),
        summary="<results>/<study>/summary.parquet",
    output:
        model="<results>/<study>/model.mklearn",
        card="<results>/<study>/model.md",
        importances="<results>/<study>/importances.parquet",
    log:
        "logs/model/<study>.log",
    benchmark:
        "logs/model/<study>.tsv"
    conda:
        "../../envs/mklearn.yaml"
    resources:
        **requests.of("model"),
    params:
        **jobs.params("model"),
    script:
        "../scripts/model.py"


rule page:
    "Write the page of the study with its figures."
    input:
        scores="<results>/<study>/scores.parquet",
        summary="<results>/<study>/summary.parquet",
        predictions="<results>/<study>/predictions.parquet",
        run="<results>/<study>/run.json",
        models=jobs.input("page", "models"),  # of the rule fit
        importances=jobs.input("page", "importances"),  # of the rule model
        controls=jobs.input("page", "controls"),  # of null_control
        contributions=jobs.input("page", "contributions"),  # of view_contributions
        samples=jobs.input("page", "samples"),
        splits=jobs.input("page", "splits"),
    output:
        page=report(
            "<results>/<study>/report/index.html",
            caption="../report/page.rst",
            category="Results",
        ),
    log:
        "logs/page/<study>.log",
    benchmark:
        "logs/page/<study>.tsv"
    localrule: True
    conda:
        "../../envs/mklearn.yaml"
    params:
        **jobs.params("page"),
    script:
        "../scripts/page.py"
