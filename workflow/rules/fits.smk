# Fits: a method on all splits of a protocol; before them what several methods share.


rule landmarks:
    "Choose the landmarks of every split, for methods on many samples."
    input:
        labels=jobs.labels,
        splits="<results>/cache/splits/{dataset}/{protocol}.parquet",
        features=jobs.landmark_features,
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
        labels=jobs.labels,
        splits="<results>/cache/splits/{dataset}/{protocol}.parquet",
        features=jobs.block_features,
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
        # labels; and by method matrices of distances, sources (features, images), or landmarks with moments and blocks
        # of features
        unpack(jobs.fit_inputs),
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
