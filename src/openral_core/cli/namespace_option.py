"""The option by which a command says whose deployment it is about."""

from __future__ import annotations

from typing import Annotated

import typer

from openral_core.graph.namespaces import DEFAULT_NAMESPACE, read_namespace

NamespaceOption = Annotated[
    str,
    typer.Option("--namespace", callback=read_namespace, help="Of the robot's deployment, such as /arm2."),
]
__all__ = ["DEFAULT_NAMESPACE", "NamespaceOption"]
