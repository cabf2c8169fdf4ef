"""Registered data sets: the real files, damaged files and wrong files."""

from __future__ import annotations

import bz2
import csv
import hashlib
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from mklearn.contract.specs import DownloadSpec
from mklearn.errors import ConfigError, DataError
from mklearn.study.data.download import fetch
from mklearn.study.data.read import content_check, read_dataset
from mklearn.study.data.readers import deng_cai_mat, usps
from mklearn.study.data.registry import dataset_spec, entry, registry
from mklearn.study.data.samples import SampleSet

# Only a part of a large data set is decoded; all of it is counted.
PARTS = {"caltech101": {"per_class": 4, "draw": 0, "resize": {"pixels": 10000}}}


@cache
def read(name: str, mirror: Path) -> SampleSet:
    files = {file.name: mirror / file.mirror for file in entry(name).packaging(str(mirror)) if file.mirror}
    return read_dataset(dataset_spec({"kind": "registered", "name": name, **PARTS.get(name, {})}), files)


def test_registry_agrees_with_the_manifest(mirror: Path) -> None:
    manifest = {}
    for folder in ("", "multiview"):
        with (mirror / folder / "MANIFEST.csv").open(encoding="utf-8") as stream:
            manifest |= {str(Path(folder, row["path"])): row for row in csv.DictReader(stream)}
    for known in registry().values():
        for files in (known.files, known.pairs, *known.alternatives):
            for file in files:
                if file.mirror is None:
                    continue
                row = manifest[file.mirror]
                assert row["sha256"] in file.sha256, file.name
                assert int(row["bytes"]) == file.bytes, file.name


@pytest.mark.parametrize(("target", "first"), [(None, 191.0), ("waist", 36.0), ("pulse", 50.0)])
def test_linnerud_has_three_targets_that_are_no_features(target: str | None, first: float) -> None:
    """The first man: 5 chins, 162 sit-ups and 60 jumps."""
    samples = read_dataset(dataset_spec({"kind": "registered", "name": "linnerud", "target": target}))
    assert samples.y[0] == first
    assert samples.tables["exercise"][0].tolist() == [5.0, 162.0, 60.0]


def test_coil20_originals_equal_the_resized_file(mirror: Path) -> None:
    ours, cai = read("coil20", mirror), read("coil20-cai", mirror)
    np.testing.assert_array_equal(ours.y, cai.y)
    assert np.corrcoef(ours.images.ravel(), cai.images.ravel())[0, 1] > 0.9999
    np.testing.assert_allclose(ours.images / 255, cai.images, atol=1e-14)  # the same numbers, in the same order


def test_caltech_draw(mirror: Path) -> None:
    samples = read("caltech101", mirror)
    assert samples.class_counts.tolist() == [4] * 102
    assert samples.classes[[0, 1, 101]].tolist() == ["BACKGROUND_Google", "Faces", "yin_yang"]
    assert samples.notes == ()  # the mirror has none of upstream's strays
    assert samples.images is not None
    assert all(image.dtype == np.uint8 and abs(image.size - 10000) < 150 for image in samples.images)
    assert len({image.shape for image in samples.images}) > 20
    # CRC-32 of "caltech101", the draw, CRC-32 of "inline_skate"
    drawn = np.random.default_rng([0xDE29F6D8, 0, 0x7B6BF70F]).permutation(31)[:4]
    numbers = [int(name[-8:-4]) for name in samples.ids if name.startswith("inline_skate/")]
    assert numbers == sorted(1 + drawn)


def test_faces_stand_upright(mirror: Path) -> None:
    """Column-major files read as row-major give lying faces, which are less symmetric left to right."""
    for name in ("orl", "yale", "olivetti", "orl-resized"):
        images = np.asarray(read(name, mirror).images, dtype=float)
        mean = images.mean(axis=0)
        upright = np.corrcoef(mean.ravel(), mean[:, ::-1].ravel())[0, 1]
        lying = np.corrcoef(mean.ravel(), mean[::-1].ravel())[0, 1]
        assert upright > 0.8, name
        assert upright > lying + 0.05, name


def test_usps_text_and_hdf5_are_the_same(mirror: Path, tmp_path: Path) -> None:
    packed = read("usps", mirror)
    images = np.asarray(packed.images).reshape(-1, 256)
    parts = {"usps.bz2": slice(0, 200), "usps.t.bz2": slice(7291, 7391)}
    for name, rows in parts.items():  # as LIBSVM writes them: labels 1..10, zeros left out
        lines = []
        for image, digit in zip(images[rows], packed.y[rows], strict=True):
            values = np.round(2 * image - 1, 3)
            cells = [f"{k}:{value:g}" for k, value in enumerate(values, 1) if value != 0]
            lines.append(f"{digit + 1} {' '.join(cells)}\n")
        (tmp_path / name).write_bytes(bz2.compress("".join(lines).encode()))
    for order in (list(parts), list(parts)[::-1]):
        text = usps.read({name: tmp_path / name for name in order})
        np.testing.assert_array_equal(text.images, np.asarray(packed.images)[np.r_[0:200, 7291:7391]])
        np.testing.assert_array_equal(text.y, packed.y[np.r_[0:200, 7291:7391]])
        assert text.ids[200] == "test/1"
    (tmp_path / "usps.bz2").write_bytes((tmp_path / "usps.bz2").read_bytes()[:5000])
    with pytest.raises(DataError, match=r"usps\.bz2: not readable as LIBSVM text"):
        usps.read({name: tmp_path / name for name in parts})
    with pytest.raises(DataError, match="not a readable HDF5 file"):
        usps.read({"usps.bz2": tmp_path / "usps.bz2"})


def test_deng_cai_variants(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (6, 3, 4)).astype(np.uint8)
    columns = images.transpose(0, 2, 1).reshape(6, 12)  # column-major
    gnd = np.array([[2, 1, 10, 2, 1, 10]]).T
    digest = hashlib.sha256(columns.tobytes()).hexdigest()
    path = tmp_path / "x.mat"
    for fea, labels in (
        (columns, gnd),
        (columns.astype(float), gnd.astype(float)),
        (np.asfortranarray(columns), gnd.astype(np.uint8)),
    ):
        savemat(path, {"fea": fea, "gnd": labels})
        samples = deng_cai_mat.read({"x": path}, shape=(3, 4), content_sha256=digest)
        np.testing.assert_array_equal(samples.images, images)
        assert samples.ids.tolist() == ["2/1", "1/1", "10/1", "2/2", "1/2", "10/2"]
        assert samples.classes.tolist() == ["1", "2", "10"]
    savemat(path, {"X": columns / 255, "Y": gnd})
    unit = deng_cai_mat.read({"x": path}, shape=(3, 4))
    np.testing.assert_allclose(unit.images, images / 255)  # type: ignore[arg-type]
    for variables, shape, message in (
        ({"fea": columns[::-1], "gnd": gnd}, (3, 4), r"x\.mat: its content is not that of the registered data set"),
        ({"fea": columns, "gnd": gnd}, (4, 4), r"features have shape \(6, 12\); expected \(6, 16\)"),
        ({"data": columns}, (3, 4), r"has the variables data .* expected fea and gnd"),
    ):
        savemat(path, variables)
        with pytest.raises(DataError, match=message):
            deng_cai_mat.read({"x": path}, shape=shape, content_sha256=digest)


def test_unexpected_data_set(mirror: Path) -> None:
    path = mirror / "yale" / "Yale_32x32.mat"
    spec = entry("orl").spec()
    with pytest.raises(DataError, match="its content is not that of the registered"):
        read_dataset(spec, {"ORL_32x32.mat": path})
    del spec["options"]["content_sha256"]
    with pytest.raises(DataError, match=r"Yale_32x32\.mat: .* n_samples: expected 400, got 165; n_classes"):
        read_dataset(spec, {"ORL_32x32.mat": path})
    with pytest.raises(DataError, match=r"att_faces\.zip: not a readable MATLAB"):
        read_dataset(spec, {"ORL_32x32.mat": mirror / "orl" / "att_faces.zip"})


def test_unlisted_checksum_is_accepted_by_content(
    mirror: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repacked archive has another checksum and the same images."""
    packed = tmp_path / "upstream.zip"
    with (
        zipfile.ZipFile(mirror / "orl" / "att_faces.zip") as source,
        zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as target,
    ):
        target.writestr("README", "credit")
        for name in reversed(source.namelist()):
            target.writestr(f"att_faces/{name}", source.read(name))
    known = entry("orl-resized")
    (file,) = known.files
    check = content_check(DownloadSpec(file=file, reader=known.reader, options=known.options))
    assert check is not None
    monkeypatch.setenv("MKLEARN_MIRROR", str(tmp_path))
    assert fetch(file, packed, check_content=check) == ("present", "content")
    assert len(read_dataset(known.spec(), {"att_faces.zip": packed})) == 400
    with pytest.raises(DataError):
        check(mirror / "coil20" / "coil-20-proc.zip")


def test_packaging_on_the_mirror_comes_first(mirror: Path, tmp_path: Path) -> None:
    known = entry("usps")
    assert known.packaging(None) == known.packaging(str(tmp_path)) == known.files
    for place in (str(mirror), "https://mirror.example"):
        assert [file.name for file in known.packaging(place)] == ["usps.h5"]
    assert entry("digits").packaging(str(mirror)) == []


def test_unknown_names_get_a_hint() -> None:
    with pytest.raises(ConfigError, match=r"'coil-20' is not registered\. Did you mean 'coil20'"):
        entry("coil-20")
