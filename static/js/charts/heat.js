// A metric over two factors as shaded cells, each with its figure where it fits.
//
// {kind: "heat",
//  metric: {name, label, unit, log?},             log: the shade goes by ratio, not by difference
//  x: {name, label, labels: [text]},              columns from left to right
//  y: {name, label, labels: [text]},              rows from top to bottom
//  cells: [{x, y, v, low?, high?, n?, url?, note?}]}    x and y are places in the labels; v in base units
//
// What was not measured has no cell (or a `v` of null) and stays empty; `url` opens on a click.
import { formatQuantity } from "../units.js";
import { axisStyle, baseOptions, css, isNumber } from "./theme.js";

// Narrower cells than this (px) have no room for their figure.
const ROOM_PX = 58;
const HEIGHT_PX = 16;
