"""Decodes more captures than one machine reads: Spark decides who reads what, frametap reads."""

__version__ = "0.1.0"
