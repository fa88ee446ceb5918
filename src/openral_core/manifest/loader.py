"""From `rskill.yaml` to a checked manifest."""

from __future__ import annotations

from pathlib import Path

from openral_core.errors import ManifestError
from openral_core.files.yaml_document import Document, Key, read_document
from openral_core.manifest.model import RSkillManifest
from openral_core.manifest.runtime import LOCAL
from openral_core.schema import inside, validate

MANIFEST_NAME = "rskill.yaml"


def load_manifest(path: Path) -> RSkillManifest:
    """Load a manifest.

    Args:
        path: `rskill.yaml`, or the folder that holds it.

    Raises:
        ManifestError: one line a fault, `file:line: key: what is wrong; fix`.
    """
    file = path / MANIFEST_NAME if path.is_dir() else path
    document = read_document(file)
    if file.is_symlink() and inside(file.parent, file.name) is None:
        raise ManifestError(
            document.fault((), "is a link that leaves its folder", "put the file itself there")
        )
    manifest = validate(RSkillManifest, document)
    _check_local_files(manifest, document, file.parent)
    return manifest


def _check_local_files(manifest: RSkillManifest, document: Document, folder: Path) -> None:
    """Refuse local:// files that a link or `..` would take out of the folder."""
    uris: dict[Key, str | None] = {("weights_uri",): manifest.weights_uri}
    if manifest.processors is not None:
        uris["processors", "preprocessor_uri"] = manifest.processors.preprocessor_uri
        uris["processors", "postprocessor_uri"] = manifest.processors.postprocessor_uri
    if manifest.playbook is not None:
        uris["playbook", "body_uri"] = manifest.playbook.body_uri
    for key, uri in uris.items():
        if uri and uri.startswith(LOCAL) and inside(folder, uri.removeprefix(LOCAL)) is None:
            raise ManifestError(
                document.fault(key, f"{uri} leaves the manifest's folder", "put the file beside rskill.yaml")
            )
    # Weights may be elsewhere; the text of a playbook is all there is of it.
    body = manifest.playbook.body_uri if manifest.playbook else None
    if body is not None and not (body.startswith(LOCAL) and (folder / body.removeprefix(LOCAL)).is_file()):
        key = ("playbook", "body_uri")
        raise ManifestError(document.fault(key, f"{body} is not there", "put the text beside rskill.yaml"))
