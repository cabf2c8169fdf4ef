# Training and 1-nearest-neighbour evaluation: one job per data set, protocol and method, all sizes and repeats inside.


rule fit:
    input:
        manifest=targets.manifest,
        matrices=targets.ancient_matrices,
        sources=targets.fit_sources,
        labels=targets.labels,
        splits=targets.path("cache/splits/{dataset}/{protocol}.parquet"),
    output:
        scores=targets.path("cache/fits/{dataset}/{protocol}/{method}.parquet"),
        model=targets.path("cache/fits/{dataset}/{protocol}/{method}.npz"),
    log:
        "logs/fit/{dataset}/{protocol}/{method}.log",
    priority: ask.fit_priority  # the longest first; of the rules that fits wait for it is 1
    conda:
        "../../envs/mklearn.yaml"
    threads: 1
    resources:
        mem_mb=ask.fit_memory,
        runtime=ask.fit_minutes,
        mosek=ask.licences,
    params:
        spec=targets.fit_spec,
        code=targets.fit_code,
    message:
        "Fitting {wildcards.method} on {wildcards.dataset}, {wildcards.protocol}"
    script:
        "../scripts/fit.py"
