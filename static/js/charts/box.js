// Distributions as boxes: quartiles, whiskers, outliers as points, and the mean as a mark.
//
// {kind: "box",
//  metric: {name, label, unit, log?},             the y axis
//  x: {name, label, labels: [text]},              one place a group
//  series: [{label, boxes: [{x, n, min, q1, median, q3, max, whisker_low, whisker_high, mean?, outliers: [value],
//            points?: [value], url?}]}],          x is a place in the labels; `apps.bench.statistics` gives the rest
//  individual?: true,                             draws the single samples `boxes[].points`, too
//  lines?: [{axis: "y", value, label, style?}]}
//
// Whiskers end at the last value within 1.5 interquartile ranges of the box (Tukey, 1977); what lies beyond is an
// outlier, shown and never dropped. All in base units.
