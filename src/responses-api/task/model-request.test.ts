import { rememberJson } from "@antiphon/base/json/json-text.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { shownCharacters } from "./model-request.ts";

test("a value without attachments and escapes has the length of its JSON", () => {
  const text = fc.string().map((any) => any.replaceAll(/[^a-z0-9 ]/g, ""));
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom(null, true, -1.5, {}, []),
      text,
      fc.array(tie("value")),
      fc.dictionary(text, tie("value")),
    ),
  }));
  fc.assert(
    fc.property(value, (sample) => {
      expect(shownCharacters(sample)).toBe(JSON.stringify(sample).length);
    }),
  );
});

test("an attachment counts the same, whatever its size and whether the JSON is remembered", () => {
  const image = (size: number): object => ({
    type: "input_image",
    image_url: `data:image/png;base64,${"A".repeat(size)}`,
  });
  const sound = (size: number): object => ({ input_audio: { data: "A".repeat(size), format: "wav" } });
  for (const make of [image, sound]) {
    const small = make(2_000);
    const large = make(2_000_000);
    expect(shownCharacters(large)).toBe(shownCharacters(small));
    expect(shownCharacters(rememberJson(large, JSON.stringify(large)))).toBe(shownCharacters(small));
    expect(shownCharacters(small)).toBeGreaterThan(4_000);
  }
  expect(shownCharacters(sound(900))).toBe(JSON.stringify(sound(900)).length);
});
