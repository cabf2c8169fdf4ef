# Data sets: downloaded (verified), read into one format, resized; and split.


rule download:
    output:
        target=targets.path("download"),
    log:
        targets.log("download"),
    priority: 1
    localrule: True
    conda:
        "../../envs/mklearn.yaml"
    params:
        spec=targets.spec("download"),
    message:
        "Downloading {wildcards.file} ({wildcards.source})"
    script:
        "../scripts/step.py"


rule read:
    input:
        files=targets.source_files,
    output:
        samples=targets.path("samples"),
        labels=targets.path("labels"),
    log:
        targets.log("read"),
    benchmark:
        targets.benchmark("read")
    priority: 1
    conda:
        "../../envs/mklearn.yaml"
    resources:
        mem_mb=ask.read_memory,
        runtime=ask.read_minutes,
    params:
        spec=targets.spec("read"),
        code=targets.code("read"),
    message:
        "Reading data set {wildcards.dataset}"
    script:
        "../scripts/step.py"


rule resize:
    input:
        samples=targets.original,
    output:
        resized=targets.path("resized"),
    log:
        targets.log("resize"),
    benchmark:
        targets.benchmark("resize")
    priority: 1
    conda:
        "../../envs/mklearn.yaml"
    resources:
        mem_mb=ask.images_memory,
        runtime=ask.images_minutes,
    params:
        spec=targets.spec("resize"),
        code=targets.code("resize"),
    message:
        "Resizing the images of {wildcards.dataset}"
    script:
        "../scripts/step.py"


rule split:
    input:
        labels=targets.labels,
        files=targets.split_files,
    output:
        splits=targets.path("splits"),
    log:
        targets.log("split"),
    benchmark:
        targets.benchmark("split")
    priority: 1
    localrule: True
    conda:
        "../../envs/mklearn.yaml"
    params:
        spec=targets.spec("split"),
        code=targets.code("split"),
    message:
        "Splitting {wildcards.dataset}: {wildcards.protocol}"
    script:
        "../scripts/step.py"
