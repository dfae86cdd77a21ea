"""Settings: `base` is shared, `production` and `test` say only what differs."""
