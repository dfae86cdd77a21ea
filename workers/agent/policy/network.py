"""The rules of the programs that measure networks: what the product's tools need, and what does no harm besides.

None of these options takes a file, starts a program, makes a server stay, or asks third parties (traceroute -A and
mtr -z tell a registry the addresses of the path); where one does it is left out. Programs that an agent may run by
itself are all here (a test holds that).
"""

from __future__ import annotations

from dataclasses import replace

from .rules import ADDRESS, NUMBER, TEXT, Rules, options_of

_IPERF3 = options_of(
    flag="-s --server -1 --one-off -u --udp -R --reverse --bidir -J --json --json-stream -V --verbose -4 -6 "
    "-Z --zerocopy -N --no-delay --forceflush --get-server-output --udp-counters-64bit --repeating-payload --sctp "
    "--dont-fragment",
    text="-p --port -t --time -i --interval -O --omit -P --parallel -w --window -M --set-mss -C "
    "--congestion -b --bitrate --bandwidth -l --length -n --bytes -k --blockcount -f --format --cport -S --tos "
    "-A --affinity --connect-timeout --rcv-timeout --snd-timeout -T --title --dscp -L --flowlabel --fq-rate "
    "--pacing-timer --server-bitrate-limit --idle-timeout --extra-data",
    local="-B --bind --bind-dev",
    address="-c --client",
)
_IPERF = options_of(
    flag="-s --server -u --udp -e --enhanced -V --ipv6_domain -r --tradeoff -d --dualtest -N --nodelay -R --reverse",
    text="-p --port -t --time -i --interval -P --parallel -w --window -M --mss -Z --linux-congestion "
    "-b --bandwidth -l --len -n --num -f --format -y --reportstyle -S --tos -T --ttl",
    local="-B --bind",
    address="-c --client",
)
_NETPERF = options_of(flag="-c -C -j -4 -6", text="-p -l -t -f -i -I -P -v -T -B -Z", local="-L", address="-H")
# Behind the double dash: the options of a test. A file of figures' names for -k would be one of the work folder.
_NETPERF_TEST = options_of(flag="-D", text="-s -S -r -m -M -k -b -w -R")
_QPERF = Rules(
    options_of(
        flag="-uu -un -v -vv -vvs -vvc -vvt -vvu",
        text="-lp --listen_port -ws --wait_server -t --time -m --msg_size -sb --sock_buf_size -ip --ip_port -oo "
        "--loop",
    ),
    words=(ADDRESS, TEXT),
    repeats=True,
    clusters=False,
    mixes=True,
    calls=True,
    may_serve=True,
)
_SOCKPERF = Rules(
    options_of(
        flag="--tcp --mc-loop-disable --nonblocked",
        text="-p --port -t --time -m --msg-size --mps --pps --reply-every --client_port -b --burst "
        "--buffer-size --timeout --sender-affinity --receiver-affinity",
        local="--client_ip",
        address="-i --ip",
    ),
    clusters=False,
)
_SOCKPERF_SERVERS = ("server", "sr")
_SOCKPERF_CLIENTS = ("ping-pong", "pp", "under-load", "ul", "throughput", "tp")
_IRTT_CLIENT = Rules(
    options_of(
        flag="-Q -q -v -4 -6 -n",
        text="-i -d -l --hmac --dscp --wait --timer --tcomp --fill --stats --tstamp --clock",
        local="--local",
        output="-o",
    ),
    words=(ADDRESS,),
    clusters=False,
    calls=True,
)
_IRTT_SERVER = Rules(
    options_of(flag="-4 -6", text="-d -i -l --hmac --group --timeout --tstamp", local="-b"), clusters=False
)
# It takes the word behind -T, -w, -R, -i or -n for the host if it is an address, and for the value if it is a number.
_NUTTCP = Rules(
    options_of(flag="-1 --nofork -a -v -fparse -u -r -6 -4", number="-T -w -N -R -l -P -p -i -n"),
    words=(ADDRESS,),
    clusters=False,
    calls=True,
    serves=("-1",),
)

TABLE: dict[str, Rules] = {
    "ping": Rules(
        options_of(
            flag="-n -q -4 -6 -D -v -O -U -V -B",
            text="-c -i -s -W -w -M -t -Q -p -S -m -F",
            local="-I",
        ),
        words=(ADDRESS,),
        calls=True,
        mixes=True,
        own_rights=True,
    ),
    "tracepath": Rules(options_of(flag="-n -b -4 -6", text="-m -l -p"), words=(ADDRESS,), mixes=True, calls=True),
    "traceroute": Rules(
        options_of(
            flag="-n -I --icmp -T --tcp -U --udp --mtu -4 -6 -F -e --back",
            text="-m --max-hops -q --queries -w --wait -p --port -f --first -N --sim-queries -t --tos -z --sendwait",
            local="-s --source -i --interface",
        ),
        words=(ADDRESS, NUMBER),
        calls=True,
        mixes=True,
        own_rights=True,
    ),
    "mtr": Rules(
        options_of(
            flag="-n --no-dns --json -j -u --udp -T --tcp -r --report -w --report-wide -4 -6 -b --show-ips "
            "-e --mpls --csv -C --raw -l --xml -x -S --sctp",
            text="-c --report-cycles -i --interval -G --gracetime -m --max-ttl -f --first-ttl -s --psize -P --port "
            "-Z --timeout -Q --tos -L --localport -B --bitpattern -U --max-unknown -o --order",
            local="-a --address -I --interface",
        ),
        words=(ADDRESS,),
        calls=True,
        mixes=True,
        own_rights=True,
        helpers=("mtr-packet",),
    ),
    "iperf3": Rules(_IPERF3, mixes=True, calls=True, serves=("-s", "--server")),
    "iperf": Rules(_IPERF, mixes=True, calls=True, serves=("-s", "--server")),
    "nuttcp": _NUTTCP,
    "netperf": Rules(_NETPERF, behind=Rules(_NETPERF_TEST), calls=True),
    # Without a passphrase it sends files of the node, and to any address, for whoever reaches it.
    "netserver": Rules(options_of(flag="-D -4 -6 -N", text="-p -v -Z", local="-L"), needs=("-Z",)),
    "qperf": _QPERF,
    "sockperf": Rules(
        commands=dict.fromkeys(_SOCKPERF_SERVERS, _SOCKPERF)
        | dict.fromkeys(_SOCKPERF_CLIENTS, replace(_SOCKPERF, calls=True))
    ),
    "irtt": Rules(commands={"server": _IRTT_SERVER, "client": _IRTT_CLIENT}),
    "bing": Rules(options_of(flag="-n", text="-S"), words=(ADDRESS,), calls=True, own_rights=True),
    "pchar": Rules(
        options_of(flag="-n -q -v", text="-p -R -I -m -g -H -t", local="-l"),
        words=(ADDRESS,),
        calls=True,
        own_rights=True,
    ),
    "pathload_snd": Rules(options_of(flag="-q")),
    "pathload_rcv": Rules(options_of(flag="-q", text="-w", address="-s", file="-o -O -N"), calls=True),
    "pathrate_snd": Rules(options_of(flag="-q")),
    "pathrate_rcv": Rules(options_of(flag="-Q -q -v", address="-s", file="-o -O -N"), calls=True),
}
