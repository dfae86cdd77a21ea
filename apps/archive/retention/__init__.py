"""How long time series and raw output are kept: packed or dropped by each team's rules; samples never go."""
