"""The fourth step: what pages, REST, downloads and reports show of a comparison; nothing here changes it."""
