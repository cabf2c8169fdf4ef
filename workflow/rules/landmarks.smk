# Methods with landmarks, for many samples: every pass over the samples is made of jobs on blocks of them.


rule landmarks:
    input:
        labels=targets.labels,
        splits=targets.path("splits"),
        features=targets.landmark_features,
    output:
        landmarks=targets.path("landmarks"),
    log:
        targets.log("landmarks"),
    benchmark:
        targets.benchmark("landmarks")
    priority: 1
    conda:
        "../../envs/mklearn.yaml"
    resources:
        mem_mb=ask.landmarks_memory,
        runtime=ask.landmarks_minutes,
    params:
        spec=targets.spec("landmarks"),
        code=targets.code("landmarks"),
    message:
        "Choosing {wildcards.landmark_set} of {wildcards.dataset}, {wildcards.protocol}"
    script:
        "../scripts/step.py"


rule moments_block:
    input:
        landmarks=targets.path("landmarks"),
        labels=targets.labels,
        splits=targets.path("splits"),
        features=targets.block_of_landmark_features,
    output:
        moments=targets.path("moments_block"),
    log:
        targets.log("moments_block"),
    benchmark:
        targets.benchmark("moments_block")
    priority: 1
    conda:
        "../../envs/mklearn.yaml"
    resources:
        mem_mb=ask.block_memory,
        runtime=ask.block_minutes,
    params:
        spec=targets.spec("moments_block"),
        code=targets.code("moments_block"),
    message:
        "Moments of {wildcards.dataset}, {wildcards.protocol}, part {wildcards.part}"
    script:
        "../scripts/step.py"


rule moments:
    input:
        landmarks=targets.path("landmarks"),
        labels=targets.labels,
        blocks=targets.moments_blocks,
    output:
        moments=targets.path("moments"),
    log:
        targets.log("moments"),
    benchmark:
        targets.benchmark("moments")
    priority: 1
    conda:
        "../../envs/mklearn.yaml"
    resources:
        mem_mb=ask.moments_memory,
        runtime=ask.moments_minutes,
    params:
        spec=targets.spec("moments"),
        code=targets.code("moments"),
    message:
        "Adding up the moments of {wildcards.dataset}, {wildcards.protocol}"
    script:
        "../scripts/step.py"


rule solve:
    input:
        landmarks=targets.fit_landmarks,
        moments=targets.fit_moments,
        labels=targets.labels,
        splits=targets.path("splits"),
    output:
        solution=targets.path("solution"),
    log:
        targets.log("solve"),
    benchmark:
        targets.benchmark("solve")
    wildcard_constraints:
        method=targets.one_of("landmark_method"),
    priority: ask.fit_priority
    conda:
        "../../envs/mklearn.yaml"
    resources:
        mem_mb=ask.moments_memory,
        runtime=ask.moments_minutes,
        mosek=ask.licences,
    params:
        spec=targets.spec("solve"),
        code=targets.code("solve"),
    message:
        "Learning {wildcards.method} on {wildcards.dataset}, {wildcards.protocol}"
    script:
        "../scripts/step.py"


rule embed:
    input:
        solution=targets.path("solution"),
        labels=targets.labels,
        splits=targets.path("splits"),
        features=targets.block_of_fit_features,
    output:
        embeddings=targets.path("embeddings"),
    log:
        targets.log("embed"),
    benchmark:
        targets.benchmark("embed")
    priority: 1
    conda:
        "../../envs/mklearn.yaml"
    resources:
        mem_mb=ask.block_memory,
        runtime=ask.block_minutes,
    params:
        spec=targets.spec("embed"),
        code=targets.code("embed"),
    message:
        "Embedding {wildcards.dataset} by {wildcards.method}, {wildcards.protocol}, part {wildcards.part}"
    script:
        "../scripts/step.py"


use rule fit as fit_embeddings with:
    input:
        solution=targets.path("solution"),
        blocks=targets.embeddings,
        labels=targets.labels,
        splits=targets.path("splits"),
    log:
        targets.log("fit_embeddings"),
    benchmark:
        targets.benchmark("fit_embeddings")
    wildcard_constraints:
        method=targets.one_of("landmark_method"),
    resources:
        mem_mb=ask.embeddings_memory,
        runtime=ask.block_minutes,
        mosek=0,
    params:
        spec=targets.spec("fit_embeddings"),
        code=targets.code("fit_embeddings"),
    message:
        "Evaluating {wildcards.method} on {wildcards.dataset}, {wildcards.protocol}"
