"""What the aggregate's shape is called, with clients and with tasks as the factor."""

from apps.bench.rules.shapes import FALLS, FLAT, RISES, SATURATES, UNCLEAR
from apps.bench.text import _

ONE_SERVER, NEARLY, LEVEL = "one-server", "nearly", "level"
# It does not fall from each number to the next, but from one of them on.
PEAK, PEAK_ONE_SERVER = "peak", "peak-one-server"
OF_CLIENTS = {
    SATURATES: _("%(name)s saturates at %(count)s clients (%(way)s): more add nothing"),
    RISES: _("%(name)s grows with the clients (%(way)s): let many nodes do I/O at once"),
    NEARLY: _(
        "%(name)s grows with the clients (%(way)s) to nearly all that lies beneath it can give: more gain little"
    ),
    FALLS: _("%(name)s falls as clients are added (%(way)s): they are in each other's way"),
    PEAK: _("%(name)s is highest with %(count)s clients (%(way)s): with more they are in each other's way"),
    PEAK_ONE_SERVER: _(
        "%(name)s is highest with %(count)s clients (%(way)s): for many nodes take a parallel file system"
    ),
    ONE_SERVER: _("%(name)s falls as clients are added (%(way)s): for many nodes take a parallel file system"),
    UNCLEAR: _(
        "%(name)s gives more with several clients than with few (%(way)s): whether it goes on is not told yet"
    ),
    FLAT: _("%(name)s gives the same with any number of clients (%(way)s): one fills it"),
    LEVEL: _("%(name)s gives the same with %(least)s as with %(most)s clients (%(way)s): more of them added nothing"),
}
OF_TASKS = {
    SATURATES: _("%(name)s saturates at %(count)s tasks (%(way)s): more add nothing"),
    RISES: _("%(name)s grows with the tasks (%(way)s): let many do I/O at once"),
    NEARLY: _(
        "%(name)s grows with the tasks (%(way)s) to nearly all that lies beneath it can give: more on the same"
        " nodes gain little"
    ),
    FALLS: _("%(name)s falls as tasks are added (%(way)s): they are in each other's way"),
    PEAK: _("%(name)s is highest with %(count)s tasks (%(way)s): with more they are in each other's way"),
    PEAK_ONE_SERVER: _(
        "%(name)s is highest with %(count)s tasks (%(way)s): for many of them take a parallel file system"
    ),
    ONE_SERVER: _("%(name)s falls as tasks are added (%(way)s): for many of them take a parallel file system"),
    UNCLEAR: _("%(name)s gives more with several tasks than with few (%(way)s): whether it goes on is not told yet"),
    FLAT: _("%(name)s gives the same with any number of tasks (%(way)s): one fills it"),
    LEVEL: _("%(name)s gives the same with %(least)s as with %(most)s tasks (%(way)s): more of them added nothing"),
}
# How the tasks use files, by whether they share one, and whether they go through it in order.
USED = {
    (False, True): _("Each task reads or writes a file of its own, in order."),
    (False, False): _("Each task reads or writes a file of its own, at random places."),
    (True, True): _("All tasks read or write one file, in order."),
    (True, False): _("All tasks read or write one file, at random places."),
}
