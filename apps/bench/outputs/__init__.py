"""Reading what programs print, whatever they hold: shared by tools, schedulers, recognition and rules."""
