# Training and evaluation: one job per data set, protocol and method, all sizes and repeats inside. For pairs, projections first.


rule project:
    input:
        features=targets.features,
        labels=targets.labels,
        splits=targets.path("splits"),
    output:
        projections=targets.path("projections"),
    log:
        targets.log("project"),
    benchmark:
        targets.benchmark("project")
    priority: 1
    conda:
        "../../envs/mklearn.yaml"
    resources:
        mem_mb=ask.project_memory,
        runtime=ask.project_minutes,
    params:
        spec=targets.spec("project"),
        code=targets.code("project"),
    message:
        "Projecting {wildcards.descriptor} of {wildcards.dataset}, {wildcards.protocol}"
    script:
        "../scripts/step.py"


rule fit:
    input:
        manifest=targets.manifest,
        matrices=ancient(targets.fit_matrices),
        sources=targets.fit_sources,
        projections=targets.projections,
        labels=targets.labels,
        splits=targets.path("splits"),
    output:
        scores=targets.path("fit_scores"),
        model=targets.path("fit_model"),
        predictions=targets.path("fit_predictions"),
    log:
        targets.log("fit"),
    benchmark:
        targets.benchmark("fit")
    wildcard_constraints:
        method=targets.one_of("kernel_method"),
    priority: ask.fit_priority  # the longest first; of the rules that fits wait for it is 1
    conda:
        "../../envs/mklearn.yaml"
    resources:
        mem_mb=ask.fit_memory,
        runtime=ask.fit_minutes,
        mosek=ask.licences,
    params:
        spec=targets.spec("fit"),
        code=targets.code("fit"),
    message:
        "Fitting {wildcards.method} on {wildcards.dataset}, {wildcards.protocol}"
    script:
        "../scripts/step.py"
