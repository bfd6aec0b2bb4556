// The types of vendor.js, for `tsc --checkJs` alone.
export { default as uPlot } from "uplot";
