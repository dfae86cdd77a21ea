"""The demo: describes two sites, enrols agents, measures a sample campaign, and shows what it says; all over REST."""
