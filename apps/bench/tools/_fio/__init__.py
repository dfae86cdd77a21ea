"""fio's report in its three forms, its bandwidth logs, and the options it was made with."""
