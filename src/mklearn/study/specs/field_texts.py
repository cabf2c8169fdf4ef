"""What the schema of study files and listings say of the fields of a model: the string below each."""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import textwrap

from pydantic import BaseModel


def field_texts(model: type[BaseModel]) -> dict[str, str]:
    """Return the text of each field that has one, its own or that of the class which it is inherited from.

    pydantic reads these texts too (``use_attribute_docstrings``), but when a model is imported: every job and every
    command would read the source of all models, a quarter of a second.
    """
    texts: dict[str, str] = {}
    for cls in reversed(model.__mro__):
        if cls is not BaseModel and issubclass(cls, BaseModel):
            own = inspect.get_annotations(cls)
            texts = {name: text for name, text in texts.items() if name not in own}
            texts |= _own_texts(cls)
    return {name: texts[name] for name in model.model_fields if name in texts}


@functools.cache  # models share their bases
def _own_texts(cls: type[BaseModel]) -> dict[str, str]:
    try:
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    except (OSError, TypeError):  # made in an interactive session
        return {}
    assert isinstance(tree, ast.ClassDef)
    return {
        field.target.id: inspect.cleandoc(below.value.value)
        for field, below in itertools.pairwise(tree.body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) and isinstance(below.value.value, str)
    }
