"""The formats that can be imported, one per module; `opening.py` recognises the format of a file."""
