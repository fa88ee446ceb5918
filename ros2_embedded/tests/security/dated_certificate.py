"""A member's certificate that is valid from one second to another, where keystores give days."""

from __future__ import annotations

import subprocess
from datetime import datetime, timedelta, timezone

from ros2_embedded.security import Keystore

_CONFIG = """
[ca]
default_ca = here
[here]
database = {folder}/index.txt
rand_serial = yes
new_certs_dir = {folder}
default_md = sha256
policy = any
[any]
commonName = supplied
"""


def date_certificate(keystore: Keystore, name: str, begins_s: float, ends_s: float) -> None:
    """Sign a member's request again.

    Args:
        keystore: of the member.
        name: of the member.
        begins_s: [s] from now.
        ends_s: [s] from now.
    """
    folder, place = keystore.directory / f"signing-{name}", keystore.enclave(name)
    folder.mkdir(exist_ok=True)
    (folder / "index.txt").write_text("")
    (folder / "ca.cnf").write_text(_CONFIG.format(folder=folder))
    start, end = (
        (datetime.now(timezone.utc) + timedelta(seconds=seconds)).strftime("%Y%m%d%H%M%SZ")
        for seconds in (begins_s, ends_s)
    )
    authority = ["-cert", str(keystore.directory / "ca.pem"), "-keyfile", str(keystore.directory / "ca.key")]
    request = ["-in", str(place / "request.csr"), "-extfile", str(place / "extensions.txt")]
    dates = ["-startdate", start, "-enddate", end, "-out", str(place / "cert.pem"), "-notext"]
    subprocess.run(
        ["openssl", "ca", "-batch", "-config", str(folder / "ca.cnf"), *authority, *request, *dates],
        check=True,
        capture_output=True,
    )
