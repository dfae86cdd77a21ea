"""The program that runs on a node: standard library only, Python 3.9 or later, shipped as one zipapp."""

VERSION = "1.3"
