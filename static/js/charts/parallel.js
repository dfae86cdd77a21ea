// Many runs at once: one vertical axis a factor or metric, one line a run, ranges chosen ("brushed") on any axis.
//
// {kind: "parallel",
//  axes: [{name, label, unit, log?, labels?: [text]}],   with `labels` the values are places in them (words)
//  rows: [[value or null, ...]],                         one value an axis, in base units
//  ids?: [id], url?: "/results/trials/{id}/",            where a chosen run's page is
//  colour?: place of the axis that colours the lines (the last one unless given)}
//
// A null is drawn at the foot of its axis. The canvas sends "brushchange" with detail {chosen: [place of row], ids}.
