# Fits: a method on all splits of a protocol; before them what several methods share.


rule moments:
    "Gather the moments of landmark features over one block of samples."
    input:
        labels=jobs.input("moments", "labels"),
        splits="<results>/cache/splits/{dataset}/{protocol}.parquet",
        features=jobs.input("moments", "features"), # of the block; of the first block, which chooses landmarks, of all
        landmarks=jobs.input("moments", "landmarks"), # the moments of the first block, for the others
    output:
        moments="<results>/cache/moments/{dataset}/{protocol}/{landmark_set}/{part}.npz",
    log:
        "logs/moments/{dataset}/{protocol}/{landmark_set}/{part}.log",
    benchmark:
        "logs/moments/{dataset}/{protocol}/{landmark_set}/{part}.tsv"
    priority: 1
    conda:
        "../../envs/mklearn.yaml"
    resources:
        **requests.of("moments"),
    params:
        **jobs.params("moments"),
    script:
        "../scripts/moments.py"


rule fit:
    "Fit a method on every split of a protocol, and predict the test samples."
    input:
        labels=jobs.input("fit", "labels"),
        matrices=jobs.input("fit", "matrices"), # distances that kernels are made from
        sources=jobs.input("fit", "sources"), # features and images; of landmarks on samples in blocks in their place:
        moments=jobs.input("fit", "moments"),
        blocks=jobs.input("fit", "blocks"), # of features
        splits="<results>/cache/splits/{dataset}/{protocol}.parquet",
    output:
        model="<results>/cache/fits/{dataset}/{protocol}/{method}.npz",
        predictions="<results>/cache/fits/{dataset}/{protocol}/{method}.predictions.npz",
    log:
        "logs/fit/{dataset}/{protocol}/{method}.log",
    benchmark:
        "logs/fit/{dataset}/{protocol}/{method}.tsv"
    priority: requests.fit_priority
    conda:
        "../../envs/mklearn.yaml"
    resources:
        **requests.of("fit"),
    params:
        **jobs.params("fit"),
    script:
        "../scripts/fit.py"
