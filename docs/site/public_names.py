"""Sphinx extension: references to an object by the module that defines it lead to its page under the public name."""

from __future__ import annotations

import importlib
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment


def found(name: str) -> Any:
    """Import the object of a dotted name; None if there is none."""
    module, _, attribute = name.rpartition(".")
    try:
        return getattr(importlib.import_module(module), attribute, None) if module else None
    except ImportError:
        return None


def resolve(app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.Element) -> nodes.Node | None:
    """Return the reference to the documented object that the target is; None if no page documents it."""
    if node.get("refdomain") != "py":
        return None
    target = node.get("reftarget", "")
    wanted = found(target) or found(f"{node.get('py:module')}.{target}")
    if not getattr(wanted, "__module__", "").startswith("mklearn."):
        return None
    documented = env.domains["py"].get_objects()
    for name, _, kind, page, anchor, _ in documented:
        if name.endswith("." + target.rpartition(".")[2]) and kind != "module" and found(name) is wanted:
            reference = nodes.reference("", "", content.deepcopy(), internal=True, reftitle=name)
            reference["refuri"] = f"{app.builder.get_relative_uri(node['refdoc'], page)}#{anchor}"
            return reference
    return None


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the resolver."""
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
