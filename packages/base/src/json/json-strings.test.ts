import { expect, test } from "vitest";
import { JsonStrings } from "./json-strings.ts";

/** The strings that were read, by their paths; `…` marks one that did not end. */
function read(pieces: readonly string[], levels = 2): Record<string, string> {
  const reader = new JsonStrings(levels);
  const texts: Record<string, string> = {};
  const open = new Set<string>();
  for (const { path, text, isWhole } of pieces.flatMap((piece) => reader.add(piece))) {
    const name = path.join(".");
    texts[name] = (texts[name] ?? "") + text;
    if (isWhole) open.delete(name);
    else open.add(name);
  }
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, open.has(name) ? `${text}…` : text]));
}

const TEXT = 'a "quoted" \\ line\n\ttab 😀 \u2028 end';

test("strings are decoded with their paths, wherever the text is cut", () => {
  const escaped = JSON.stringify(TEXT).replace("😀", "\\ud83d\\ude00");
  const json =
    ` { "a": {"b": "1", "deep": {"x": "no", "list": ["no"]}, "c" : ${escaped}}, "n": 7, "t": true, ` +
    `"list": ["x", {"y": "no"}, 3, ["no"], "", "z"], "a,:b": "{[" }`;
  const strings = { "a.b": "1", "a.c": TEXT, "list.0": "x", "list.1.y": "no", "list.3.0": "no" };
  const rest = { "list.4": "", "list.5": "z", "a,:b": "{[" };
  const two = { "a.b": "1", "a.c": TEXT, "list.0": "x", ...rest };
  expect(read([json])).toEqual(two);
  for (let at = 0; at <= json.length; at += 1) expect(read([json.slice(0, at), json.slice(at)])).toEqual(two);
  expect(read(json.split(""))).toEqual(two);
  expect(read([json], 1)).toEqual({ "a,:b": "{[" });
  expect(read([json], 3)).toEqual({ ...strings, "a.deep.x": "no", ...rest });
});

test("no text ends within a character", () => {
  const reader = new JsonStrings(1);
  expect(reader.add('{"code":"\\ud83d')).toEqual([{ path: ["code"], text: "", isWhole: false }]);
  expect(reader.add('\\ude00"}')).toEqual([{ path: ["code"], text: "😀", isWhole: true }]);
});

test("a string begins with its first sign, and is told to end", () => {
  const reader = new JsonStrings(1);
  expect(reader.add('{"code": ')).toEqual([]);
  expect(reader.add('"')).toEqual([{ path: ["code"], text: "", isWhole: false }]);
  expect(reader.add("a")).toEqual([{ path: ["code"], text: "a", isWhole: false }]);
  expect(reader.add('"')).toEqual([{ path: ["code"], text: "", isWhole: true }]);
  expect(reader.add(',"code":"b"} {"code":"c"}')).toEqual([{ path: ["code"], text: "b", isWhole: true }]);
});

test("other values, text without JSON and unbalanced ends give nothing", () => {
  for (const json of ['{"code":7}', "", "{{{", '"code"', "}}]]", '}{"a":"b"}', "no JSON"])
    expect(read([json])).toEqual({});
});

test("what is cut off keeps what was decoded", () => expect(read(['{"code":"half'])).toEqual({ code: "half…" }));
