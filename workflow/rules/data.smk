# Data: downloads of registered data sets, samples in one format, splits.


rule download:
    "Fetch one file of a registered data set."
    output:
        target="<results>/downloads/{source}/{file}",
    log:
        "logs/download/{source}/{file}.log",
    benchmark:
        "logs/download/{source}/{file}.tsv"
    localrule: True
    conda:
        "../../envs/mklearn.yaml"
    params:
        **jobs.params("download"),
    script:
        "../scripts/download.py"


rule read:
    "Read the files of a data set into samples, with images resized, and their labels into a table."
    input:
        files=jobs.input("read", "files"),  # downloads, or the user's files
    output:
        samples="<results>/cache/data/{dataset}.npz",
        labels="<results>/cache/data/{dataset}.labels.parquet",
    log:
        "logs/read/{dataset}.log",
    benchmark:
        "logs/read/{dataset}.tsv"
    priority: 1
    conda:
        "../../envs/mklearn.yaml"
    resources:
        **requests.of("read"),
    params:
        **jobs.params("read"),
    script:
        "../scripts/read.py"


rule split:
    "Draw the training and test samples of a protocol, for all methods."
    input:
        labels="<results>/cache/data/{dataset}.labels.parquet",
        files=jobs.input("split", "files"),  # splits or pairs of the user or the data set
        reference=jobs.input("split", "reference"),  # labels of a data set whose splits this one takes
    output:
        splits="<results>/cache/splits/{dataset}/{protocol}.parquet",
    log:
        "logs/split/{dataset}/{protocol}.log",
    benchmark:
        "logs/split/{dataset}/{protocol}.tsv"
    priority: 1
    localrule: True
    conda:
        "../../envs/mklearn.yaml"
    params:
        **jobs.params("split"),
    script:
        "../scripts/split.py"
