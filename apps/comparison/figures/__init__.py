"""Charts as figures for papers: PNG and SVG, drawn by a program of its own, away from the web process."""
