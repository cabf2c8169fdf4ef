# Data sets: downloaded (verified), read into one format, resized; and split.


rule download:
    output:
        target=targets.path("downloads/{source}/{file}"),
    log:
        "logs/download/{source}/{file}.log",
    priority: 1
    localrule: True
    conda:
        "../../envs/mklearn.yaml"
    params:
        spec=targets.download_spec,
    message:
        "Downloading {wildcards.file} ({wildcards.source})"
    script:
        "../scripts/download.py"


rule read:
    input:
        files=targets.source_files,
    output:
        samples=targets.path("cache/data/{dataset}.npz"),
        labels=targets.path("cache/data/{dataset}.labels.parquet"),
    log:
        "logs/read/{dataset}.log",
    priority: 1
    conda:
        "../../envs/mklearn.yaml"
    threads: 1
    resources:
        mem_mb=ask.read_memory,
        runtime=ask.read_minutes,
    params:
        spec=targets.read_spec,
        code=targets.read_code,
    message:
        "Reading data set {wildcards.dataset}"
    script:
        "../scripts/read.py"


rule resize:
    input:
        samples=targets.original,
    output:
        resized=targets.path("cache/resized/{dataset}.npz"),
    log:
        "logs/resize/{dataset}.log",
    priority: 1
    conda:
        "../../envs/mklearn.yaml"
    threads: 1
    resources:
        mem_mb=ask.images_memory,
        runtime=ask.images_minutes,
    params:
        spec=targets.resize_spec,
        code=targets.code("resize"),
    message:
        "Resizing the images of {wildcards.dataset}"
    script:
        "../scripts/resize.py"


rule split:
    input:
        labels=targets.labels,
        file=targets.split_file,
    output:
        splits=targets.path("cache/splits/{dataset}/{protocol}.parquet"),
    log:
        "logs/split/{dataset}/{protocol}.log",
    priority: 1
    localrule: True
    conda:
        "../../envs/mklearn.yaml"
    params:
        spec=targets.split_spec,
        code=targets.split_code,
    message:
        "Splitting {wildcards.dataset}: {wildcards.protocol}"
    script:
        "../scripts/split.py"
