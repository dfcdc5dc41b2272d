import { expect, test } from "vitest";
import { writeCustomInput } from "./custom-input.ts";

const lark = (definition: string): string => writeCustomInput({ syntax: "lark", definition }, "the message");

test("a regular expression gets a text that it matches", () => {
  const definition = String.raw`^(?P<month>January|February) (?P<day>\d{1,2})(st|nd) at (1[0-2]|[1-9])(AM|PM)$`;
  expect(writeCustomInput({ syntax: "regex", definition }, "the message")).toBe("January 9st at 12AM");
});

test("a Lark grammar gets its smallest sentence", () => {
  const grammar = `
    // A tiny query language.
    start: select ";"
    select: "SELECT" columns "FROM" NAME where?
    columns: NAME ("," NAME)*
    where: "WHERE" NAME "=" (NUMBER | ESCAPED_STRING)
    NAME: /[a-z_]+/
    %import common (NUMBER, ESCAPED_STRING, WS)
    %ignore WS`;
  expect(lark(grammar)).toBe("SELECT a FROM a ;");
});

test("a Lark grammar that refers to itself gets a sentence that ends", () => {
  expect(
    lark(
      'start: sum\nsum: sum "+" product\n  | product\nproduct: product "*" atom | atom\natom: "(" sum ")" | INT -> number\n%import common.INT',
    ),
  ).toBe("1");
  expect(lark('start: "a"~3 ["b"] "c"+ ("x".."z")')).toBe("aaacx");
});

test.each(["start: start", 'other: "a"', "start: MISSING", "start: /(?=a)b/"])(
  "a grammar without a sentence gets the message: %s",
  (definition) => {
    expect(lark(definition)).toBe("the message");
  },
);
