#!/bin/sh
# The whole demo over REST with curl alone: describe two nodes, enrol their agents, sweep, wait, read the finding.
#
#   URL=http://127.0.0.1:8000 TOKEN=fth_api_... sh docs/rest-demo.sh
#
# The two nodes are addresses of this machine, so their agents are started here too (Python 3.9 or later and iperf3).
# A token is made on the page "API tokens", or by: python manage.py create_token --username NAME --name demo
set -eu
: "${URL:?the address of the service}" "${TOKEN:?an API token that may write}"
work=$(mktemp -d)
chmod 711 "$work"
trap 'kill $(cat "$work"/*.pid 2>/dev/null) 2>/dev/null || true; sleep 1; rm -rf "$work"' EXIT

call() {  # METHOD PATH [JSON]: print the answer; a refusal's words go to standard error and end the script
    status=$(curl -sS -o "$work/answer" -w '%{http_code}' -X "$1" -H "Authorization: Bearer $TOKEN" \
        -H 'Content-Type: application/json' ${3:+--data "$3"} "$URL/api/v1/$2")
    case $status in
        2*) cat "$work/answer" ;;
        *) echo "$1 $2: $status $(cat "$work/answer")" >&2; return 1 ;;
    esac
}
field() { sed -n "s/.*\"$1\":\"\{0,1\}\([^\",}]*\).*/\1/p" | head -n 1; }  # NAME: a field of a flat answer
make_one() { call POST "$1/" "$2" | sed 's/^{"id":\([0-9]*\).*/\1/'; }     # KIND JSON: make it, print its id

stamp=$(date +%H%M%S)
site=$(make_one sites "{\"name\": \"Here $stamp\"}")
testbed=$(make_one testbeds "{\"name\": \"Local $stamp\", \"site\": $site}")
client=$(make_one nodes "{\"name\": \"client-$stamp\", \"testbed\": $testbed, \"addresses\": [{\"address\": \"127.0.1.1\"}]}")
server=$(make_one nodes "{\"name\": \"server-$stamp\", \"testbed\": $testbed, \"addresses\": [{\"address\": \"127.0.1.2\"}]}")
make_one links "{\"name\": \"lo $stamp\", \"a_node\": $client, \"b_node\": $server, \"capacity_bps\": \"100 Gbit/s\", \"rtt_s\": \"50 us\", \"mtu\": 65535}" > /dev/null
echo "described: nodes $client and $server"

curl -sSfo "$work/agent.pyz" "$URL/agents/fathom-agent.pyz"
for node in "$client" "$server"; do
    token=$(call POST enrolment-tokens/ "{\"node\": $node}" | field token)
    python3 "$work/agent.pyz" enrol --server "$URL" --token "$token" --dir "$work/$node" > /dev/null
    python3 "$work/agent.pyz" run --dir "$work/$node" 2> "$work/$node.log" &
    echo $! > "$work/$node.pid"
done
echo "agents enrolled and started"

campaign=$(make_one campaigns "{\"name\": \"REST demo $stamp\", \"goal\": \"See the window at work.\"}")
roles="[{\"role\": \"client\", \"node\": $client}, {\"role\": \"server\", \"node\": $server}]"
make_one experiments "{\"campaign\": $campaign, \"name\": \"RTT\", \"tool\": \"ping\", \"roles\": $roles, \"fixed\": {\"count\": \"5\"}, \"repetitions\": 1}" > /dev/null
sweep=$(make_one experiments "{\"campaign\": $campaign, \"name\": \"Windows\", \"tool\": \"iperf3-tcp\", \"roles\": $roles, \"fixed\": {\"duration\": \"1 s\", \"omit\": \"0 s\"}, \"factors\": [{\"name\": \"window\", \"expression\": \"32KiB..512KiB x4\"}], \"repetitions\": 2}")
echo "what a launch would do:"
call GET "campaigns/$campaign/preview/"; echo
call POST "campaigns/$campaign/launch/" > /dev/null
echo "watch it at $URL/campaigns/$campaign/"

while :; do
    state=$(call GET "campaigns/$campaign/" | sed 's/.*"state":"\([a-z]*\)".*/\1/')
    [ "$state" = running ] || break
    sleep 1
done
echo "the campaign is $state; its results by window:"
call GET "experiments/$sweep/results/"; echo
echo "every sample:"
call GET "experiments/$sweep/samples.csv"
echo "findings, which are worked out in the seconds after the end:"
for _second in $(seq 60); do
    findings=$(call GET "findings/?campaign=$campaign")
    case $findings in '{"count":0,'*) sleep 1 ;; *) break ;; esac
done
printf '%s\n' "$findings"
[ "$state" = finished ]
