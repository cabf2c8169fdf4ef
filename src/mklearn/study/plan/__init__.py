"""The expansion of a study: every file that it makes, with the full specification behind each.

A study file has short forms - lists of bandwidths, ``each`` kernel, defaults. The expansion spells them out as frozen
specifications and derives each file's key from them. Two studies that share a specification share the file.
"""
