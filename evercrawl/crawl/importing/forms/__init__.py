"""The forms that can be imported, one a file; `opening.py` tells which form a file has."""
