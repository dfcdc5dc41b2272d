import { expect, test } from "vitest";
import { MemberReader } from "./member-reader.ts";

function read(pieces: readonly string[]): string {
  const reader = new MemberReader("code");
  return pieces.map((piece) => reader.add(piece)).join("");
}

const TEXT = 'a "quoted" \\ line\n\ttab 😀 \u2028 end';

test("the string of one member is decoded, wherever the text is cut", () => {
  const escaped = JSON.stringify(TEXT).replace("😀", "\\ud83d\\ude00");
  const json = `{ "other": {"code": "no", "list": ["code", ":"]}, "name": "code", "code" : ${escaped}, "code2": "x" }`;
  expect(read([json])).toBe(TEXT);
  for (let at = 0; at <= json.length; at += 1) expect(read([json.slice(0, at), json.slice(at)])).toBe(TEXT);
  expect(read(json.split(""))).toBe(TEXT);
});

test("no piece ends within a character", () => {
  const reader = new MemberReader("code");
  expect(reader.add('{"code":"\\ud83d')).toBe("");
  expect(reader.add('\\ude00"}')).toBe("😀");
});

test("a member that is no string, or missing, gives nothing", () => {
  for (const json of ['{"code":7}', '{"code":["a"]}', '{"codes":"a"}', "", '["code","a"]', "{{{"])
    expect(read([json])).toBe("");
});

test("what is cut off keeps what was decoded", () => expect(read(['{"code":"half'])).toBe("half"));
