// What the programs share: the address, the token, the question, and how an answer is looked at.
import assert from "node:assert/strict";

export { assert };
export const URL_ = process.env.QIUSUO_URL;
export const KEY = process.env.QIUSUO_TOKEN;
export const BASE = `${URL_}/v1`;
export const QUESTION = "When is spring tea picked in Yunnan?";
export const FOLLOW_UP = "And when is autumn tea picked in Fujian?";
export const WEATHER = "What is the weather in Kunming, and when is spring tea picked in Yunnan?";
export const weather = (city) => `21 degrees in ${city}`;

/** Demand that an answer cites its sources by links. */
export function cited(text) {
  assert.match(text, /\[\[\d+\]\]\(https:\/\/tea-\w+\.example\.com\/page\/\d+\)/);
  return text;
}
