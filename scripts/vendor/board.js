// What the board takes from others, beside what the chat page has.
export { default as uPlot } from "uplot";
