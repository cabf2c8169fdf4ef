# Data sets: downloaded (verified), read into one format, resized; and split.


rule download:
    output:
        target=targets.path("downloads/{source}/{file}"),
    log:
        "logs/download/{source}/{file}.log",
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
        code=targets.read_code,
    output:
        samples=targets.path("cache/data/{dataset}.npz"),
        labels=targets.path("cache/data/{dataset}.labels.parquet"),
    log:
        "logs/read/{dataset}.log",
    conda:
        "../../envs/mklearn.yaml"
    params:
        spec=targets.read_spec,
    message:
        "Reading data set {wildcards.dataset}"
    script:
        "../scripts/read.py"


rule resize:
    input:
        samples=targets.original,
        code=targets.code("resize"),
    output:
        resized=targets.path("cache/resized/{dataset}.npz"),
    log:
        "logs/resize/{dataset}.log",
    conda:
        "../../envs/mklearn.yaml"
    params:
        spec=targets.resize_spec,
    message:
        "Resizing the images of {wildcards.dataset}"
    script:
        "../scripts/resize.py"


rule split:
    input:
        labels=targets.labels,
        file=targets.split_file,
        code=targets.split_code,
    output:
        splits=targets.path("cache/splits/{dataset}/{protocol}.parquet"),
    log:
        "logs/split/{dataset}/{protocol}.log",
    conda:
        "../../envs/mklearn.yaml"
    params:
        spec=targets.split_spec,
    message:
        "Splitting {wildcards.dataset}: {wildcards.protocol}"
    script:
        "../scripts/split.py"
