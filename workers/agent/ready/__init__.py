"""The pattern by which a server's output says that it is ready, searched for in time linear in what is printed."""

from .automaton import Automaton, Search
from .patterns import BadPattern, compile_pattern

__all__ = ["Automaton", "BadPattern", "Search", "compile_pattern"]
