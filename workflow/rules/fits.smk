# Fits: a method on all splits of a protocol; before them what several methods share.


rule landmarks:
    "Choose the landmarks of every split, for methods on many samples."
    input:
        labels=jobs.input("landmarks", "labels"),
        splits="<results>/cache/splits/{dataset}/{protocol}.parquet",
        features=jobs.input("landmarks", "features"),
    output:
        landmarks="<results>/cache/landmarks/{dataset}/{protocol}/{landmark_set}.npz",
    log:
        "logs/landmarks/{dataset}/{protocol}/{landmark_set}.log",
    benchmark:
        "logs/landmarks/{dataset}/{protocol}/{landmark_set}.tsv"
    priority: 1
    conda:
        "../../envs/mklearn.yaml"
    resources:
        **requests.of("landmarks"),
    params:
        **jobs.params("landmarks"),
    script:
        "../scripts/landmarks.py"


rule moments:
    "Gather the moments of landmark features over one block of samples."
    input:
        landmarks="<results>/cache/landmarks/{dataset}/{protocol}/{landmark_set}.npz",
        labels=jobs.input("moments", "labels"),
        splits="<results>/cache/splits/{dataset}/{protocol}.parquet",
        features=jobs.input("moments", "features"),
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
        sources=jobs.input("fit", "sources"), # features and images; of methods with landmarks in their place:
        landmarks=jobs.input("fit", "landmarks"),
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
