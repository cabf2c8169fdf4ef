"""``mklearn export STUDY FILE.zip``: a study that was run, as a Workflow Run RO-Crate.

What it says is in the run's record and in the stamps of files; nothing is computed again. Profiles: RO-Crate 1.1,
Workflow RO-Crate 1.0, Process Run Crate and Workflow Run Crate 0.5 (https://w3id.org/ro/wfrun/workflow/0.5). Single
jobs, which Provenance Run Crate describes, are left out: run.json has what each stage cost.
"""

from __future__ import annotations

import hashlib
import json
import mimetypes
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mklearn.atomic import atomic_path
from mklearn.errors import ConfigError, DataError
from mklearn.study.engine.finished_study import FinishedStudy, UsedDataset, finished_study
from mklearn.study.engine.reforms import reforms
from mklearn.study.engine.workflow_files import workflow_file
from mklearn.study.provenance import commit, file_digest

if TYPE_CHECKING:
    from rocrate.model.entity import Entity
    from rocrate.rocrate import ROCrate

PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
SHA256 = "https://w3id.org/ro/terms/workflow-run#sha256"
WORKFLOW_PROFILE = "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"
PARAMETER_PROFILE = "https://bioschemas.org/profiles/FormalParameter/1.0-RELEASE"
NOT_PARAMETERS = {"study", "title", "description", "results", "mirror", "datasets", "published", "claims", "remarks"}
_TYPES = {".parquet": "application/vnd.apache.parquet", ".yaml": "application/yaml", ".md": "text/markdown"}


@dataclass(frozen=True)
class Authorship:
    """What the record of a run does not know.

    Attributes
    ----------
    author : str
        Name of the person who ran the study; empty if it is to stay unknown.
    orcid : str
        The person's ORCID, as a URL or its 16 digits.
    licence : str
        Address of the licence, or a sentence.
    """

    author: str = ""
    orcid: str = ""
    licence: str = ""


def export_crate(name: str | None, out: Path, authorship: Authorship, include_data: bool = False) -> str:
    """Write a study that was run as an archive.

    Parameters
    ----------
    name : str or None
        As in :func:`mklearn.study.engine.workflow_files.study_file`.
    out : Path
        Ends in ``.zip``.
    authorship : Authorship
    include_data : bool, default=False
        Whether the user's own data are copied. Registered data never are: the archive has their addresses and sha256.

    Returns
    -------
    str
        What was written, and what is left to the author.

    Raises
    ------
    ConfigError
        No such study, one that was changed since its run, or another ending of `out`.
    DataError
        The study was not run, or a file is missing, damaged or of another run.
    """
    if out.suffix != ".zip":
        raise ConfigError(f"{out}: the archive is a zip file; end its name with .zip.")
    study = finished_study(name)
    crate = _Crate(study, authorship).filled(include_data)
    with atomic_path(out) as temporary:
        crate.write_zip(temporary)
    own = any(data.own for data in study.datasets)
    notes = [
        f"{out}: study {study.record['study']}, run at {study.record['utc']}.",
        "reforms.md in it has items for the author.",
        "Own data are not in it (--include-data copies them)." if own and not include_data else "",
        "It names no author (--author)." if not authorship.author else "",
        "It names no licence (--licence)." if not authorship.licence else "",
    ]
    return "\n".join(filter(None, notes))


class _Crate:
    """Builds the crate of a study: data entities first, then the action that connects them."""

    def __init__(self, study: FinishedStudy, authorship: Authorship) -> None:
        from rocrate.rocrate import ROCrate

        self.study, self.authorship, self.record = study, authorship, study.record
        self.crate: ROCrate = ROCrate(version="1.1", gen_preview=True)
        self.crate.metadata.extra_terms["sha256"] = SHA256
        self.person = self._person()

    def filled(self, include_data: bool) -> ROCrate:
        """Return the crate with everything in it."""
        config = self.record["config"]
        workflow = self._workflow()
        source = self._file(self.study.source, self.study.source.name, f"Study file of {self.study.title}")
        objects = [self._parameter(workflow, "input", "study", "File", source)]
        objects += [self._data(data, include_data) for data in self.study.datasets]
        given = {
            name: value for name, value in config.items() if name not in NOT_PARAMETERS and value not in (None, [])
        }
        objects += [self._value(workflow, name, value) for name, value in given.items()]
        results = [self._output(workflow, path) for path in self.study.outputs]
        self._environment()
        text = reforms(self.study).encode()
        checklist = self._file(text, "reforms.md", "REFORMS checklist of the study")
        self._root(self._action(workflow, objects, results), checklist)
        return self.crate

    def _file(self, source: Path | bytes, place: str, name: str) -> Entity:
        """Add a file of the crate, with its size and checksum."""
        held: Path | BytesIO
        if isinstance(source, bytes):
            sha256, size, held = hashlib.sha256(source).hexdigest(), len(source), BytesIO(source)
        else:
            sha256, size, held = file_digest(source), source.stat().st_size, source
        kind = _TYPES.get(Path(place).suffix) or mimetypes.guess_type(place)[0] or "application/octet-stream"
        properties = {"name": name, "sha256": sha256, "contentSize": str(size), "encodingFormat": kind}
        return self.crate.add_file(held, place, properties=properties)

    def _entity(self, identifier: str, kind: Any, **properties: Any) -> Entity:
        """Add an entity that is no file."""
        from rocrate.model.contextentity import ContextEntity

        return self.crate.add(ContextEntity(self.crate, identifier, {"@type": kind, **properties}))

    def _person(self) -> Entity | None:
        if not self.authorship.author:
            return None
        orcid = self.authorship.orcid.rpartition("/")[2]
        return self._entity(f"https://orcid.org/{orcid}" if orcid else "#author", "Person", name=self.authorship.author)

    def _workflow(self) -> Entity:
        """Add Snakemake's files, with the version of the code that was run."""
        versions, made_with, here = self.record["versions"], self.record["commit"], commit()
        said = f" The files here are those of commit {here or 'unknown'}." if here != made_with else ""
        properties = {
            "name": "mklearn", "version": f"{versions['mklearn']}{made_with and f' ({made_with})'}",
            "description": f"Snakemake workflow of mklearn; a commit with + had changes that are not in it.{said}",
        }  # fmt: skip
        workflow = self.crate.add_workflow(
            workflow_file("Snakefile"), "Snakefile", main=True, lang="snakemake",
            lang_version=versions.get("snakemake"), properties=properties,
        )  # fmt: skip
        workflow["sha256"], workflow["encodingFormat"] = file_digest(workflow_file("Snakefile")), "text/plain"
        workflow["conformsTo"] = {"@id": WORKFLOW_PROFILE}
        for folder in ("workflow/rules", "workflow/scripts"):
            for path in sorted(file for file in workflow_file(folder).iterdir() if file.is_file()):
                self._file(path, f"{folder}/{path.name}", f"Part of the workflow: {path.name}")
        workflow["softwareRequirements"] = [
            self._entity(f"pkg:{'generic' if name == 'python' else 'pypi'}/{name}@{version}", "SoftwareApplication",
                         name=name, softwareVersion=version)
            for name, version in versions.items()
        ]  # fmt: skip
        return workflow

    def _environment(self) -> None:
        """Add the versions that mklearn's environment pins; a wheel has those of conda alone."""
        for name in ("requirements.lock", "envs/mklearn.yaml"):
            path = workflow_file(name)
            if path.is_file():
                self._file(
                    path, f"environment/{path.name}", "Packages of mklearn's environment; run.json has the run's"
                )

    def _parameter(self, workflow: Entity, side: str, name: str, kind: str, example: Entity) -> Entity:
        """Add a formal parameter of the workflow, and return its value in this run."""
        identifier = f"#{side}-{name}"
        parameter = self._entity(identifier, "FormalParameter", name=name, additionalType=kind, workExample=example)
        parameter["conformsTo"] = {"@id": PARAMETER_PROFILE}
        workflow.append_to(side, parameter)
        example["exampleOfWork"] = parameter
        return example

    def _value(self, workflow: Entity, name: str, value: Any) -> Entity:
        """Add a part of the study as a parameter: a number as such, anything else as JSON."""
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        text = value if is_number or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        held = self._entity(f"#value-{name}", "PropertyValue", name=name, value=text)
        return self._parameter(workflow, "input", name, "Number" if is_number else "Text", held)

    def _data(self, data: UsedDataset, include_data: bool) -> Entity:
        """Add a data set: addresses of registered files, checksums of own ones and, if asked for, their copies."""
        planned, about = data.planned, data.planned.about
        parts = [self._download(planned.downloads[path].file, sha256) for path, sha256 in data.downloaded.items()]
        if data.own:
            lines = "".join(f"{sha256}  {name}\n" for name, (_, sha256) in data.own.items())
            place = f"data/{planned.id}.sha256"
            parts.append(self._file(lines.encode(), place, f"Checksums of own data: {planned.title}"))
        if include_data:
            parts += [self._own_file(planned.id, name, *found) for name, found in data.own.items()]
        dataset = self._entity(f"#data-{planned.id}", "Dataset", name=planned.title)
        for part in parts:
            dataset.append_to("hasPart", part, compact=True)
        for name, key in (("citation", "citation"), ("url", "homepage"), ("description", "note")):
            if about.get(key):
                dataset[name] = about[key]
        if about.get("licence"):
            dataset["license"] = self._entity(f"#licence-{planned.id}", "CreativeWork", name=about["licence"])
        return dataset

    def _download(self, file: Any, sha256: str) -> Entity:
        properties: dict[str, Any] = {"name": file.name, "sha256": sha256}
        if not file.urls:
            return self._entity(f"#{file.name}", "CreativeWork", **properties)
        return self.crate.add_file(file.urls[0], properties=properties)

    def _own_file(self, dataset: str, name: str, path: Path, sha256: str) -> Entity:
        if not path.is_file() or file_digest(path) != sha256:
            raise DataError(f"{path}: not the file that the run has read; run the study again, or leave out the data.")
        return self._file(path, f"data/{dataset}/{name}", name)

    def _output(self, workflow: Entity, path: Path) -> Entity:
        """Add a result; those that a reader starts with are outputs of the workflow."""
        below = path.relative_to(self.study.folder)
        entity = self._file(path, f"results/{below.as_posix()}", below.as_posix())
        if path.parent == self.study.folder or path.name == "index.html":
            self._parameter(workflow, "output", path.name, "File", entity)
        return entity

    def _action(self, workflow: Entity, objects: list[Entity], results: list[Entity]) -> Entity:
        machine, record = self.record["machine"], self.record
        action = self._entity(
            "#run", "CreateAction", name=f"Run of study {record['study']}",
            description=f"{record['command']} (on {machine['processor']}, {machine['cores']} cores, "
            f"{machine['system']})", instrument=workflow, object=objects, result=results,
            endTime=_time(record["utc"]), actionStatus="http://schema.org/CompletedActionStatus",
        )  # fmt: skip
        if record.get("started"):
            action["startTime"] = _time(record["started"])
        if self.person is not None:
            action["agent"] = self.person
        return action

    def _root(self, action: Entity, checklist: Entity) -> None:
        root, licence = self.crate.root_dataset, self.authorship.licence
        root["conformsTo"] = [
            self._entity(address, "CreativeWork", name=name, version=address.rpartition("/")[2])
            for address, name in PROFILES.items()
        ]
        root["name"] = self.study.title
        root["description"] = self.record["config"]["description"] or f"Study {self.record['study']}, run by mklearn."
        address = licence if "://" in licence else "#licence"
        root["license"] = self._entity(address, "CreativeWork", name=licence or "None stated: ask the author.")
        root["mentions"] = [action, *(self.crate.get(f"#data-{data.planned.id}") for data in self.study.datasets)]
        checklist["about"] = root
        if self.person is not None:
            root["author"] = self.person


def _time(utc: str) -> str:
    """Return a time of the record, ``2026-01-31T12:00:00Z``, as the profile has it."""
    return utc.replace("Z", "+00:00")
