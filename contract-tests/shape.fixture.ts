import { MatchersV3 } from "@pact-foundation/pact";
import { isRecord } from "./records.fixture.ts";

const { arrayContaining, equal, integer, isMatcher, regex, string } = MatchersV3;

/**
 * Members with free text, chosen by a model, an operator or a caller. An empty text must stay empty. All other strings
 * belong to the contract and must be equal.
 */
const FREE_TEXTS = [
  "arguments",
  "delta",
  "input",
  "message",
  "model",
  "name",
  "obfuscation",
  "refusal",
  "text",
  "title",
  "url",
];
/** Numbers fixed by the request or the contract. All others are counts and times. */
const SET_NUMBERS = ["content_index", "frequency_penalty", "presence_penalty", "temperature", "top_logprobs", "top_p"];
const ID = /^(id|[a-z_]+_id)$/;

/** Optional members that depend on the account or the model. */
const LEFT_OUT = ["access_programs", "prompt_cache_retention"];

/**
 * Turns an example into matchers: contract words and nulls are equal; ids match by prefix; free texts, counts and times
 * match by type.
 */
export function shapeOf(example: unknown, member = ""): unknown {
  if (isMatcher(example)) return example;
  if (typeof example === "string") return shapeOfText(example, member);
  if (typeof example === "number") return SET_NUMBERS.includes(member) ? equal(example) : integer(example);
  if (Array.isArray(example)) {
    const elements = example.map((element) => shapeOf(element, member));
    return elements.length === 0 ? [] : arrayContaining(...elements);
  }
  if (!isRecord(example)) return example;
  const members = Object.entries(example).filter(([name]) => !LEFT_OUT.includes(name));
  return Object.fromEntries(members.map(([name, value]) => [name, shapeOf(value, name)]));
}

function shapeOfText(text: string, member: string): unknown {
  const prefix = text.slice(0, text.indexOf("_") + 1);
  if (ID.test(member)) return regex(`^${prefix}.+$`, text);
  return FREE_TEXTS.includes(member) && text !== "" ? string(text) : text;
}
