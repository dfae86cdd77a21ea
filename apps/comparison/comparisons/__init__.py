"""Any sets of results side by side: chosen by an address, which says all that the page shows.

A comparison is made in four steps. Each returns a frozen value, reads those before it, and changes none:

1. `choice.choose`: what the address (`state`, `sets`) means for its reader: experiments, tools, metrics, titles.
2. `gathering.gather`: all that is known of them, and the last reads of the database: the figures, a row a point
   (`figure_rows`), what varies over them (`factors`), how each set was measured (`environment`), on which `paths`.
3. `comparison.compare`: what stands where (`layout`), the figures there (`cells`), their centres, each against its
   baseline, what else differs between the sets, and what that says against comparing them.
4. `presentation`: the page, its charts and tables, REST and downloads; reports take the comparison itself.

The table has a place for each set, value of the axis, and value of the series, if any (here streams):

    axis: window | streams | other factors | set 0, the baseline  | set 1
    -------------|---------|---------------|----------------------|------------------------------------------
    64 KiB       | 1       | MSS 1460 B    | cell: n, centre, ends | cell: n, centre, ends, contrast with set 0
    64 KiB       | 2       | MSS 1460 B    | cell                  | – (not measured)
    128 KiB      | 1       | MSS 1460 B    | cell                  | cell

No cell is a mean over settings that differ: what else varies within a set has lines of its own.
"""
