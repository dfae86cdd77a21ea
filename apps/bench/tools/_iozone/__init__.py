"""IOzone's report, and the options it was made with."""
