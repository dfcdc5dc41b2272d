import fc from "fast-check";
import { expect, test } from "vitest";
import { readReasoningSecret, writeReasoningSecret } from "./reasoning-secret.ts";

test("a secret is read as it was written", () => {
  const anyText = fc.oneof(
    fc.string(),
    fc.string().map((text) => `\u0000${text}`),
  );
  const sealedTexts = fc.option(fc.string(), { nil: null });
  fc.assert(
    fc.property(anyText, sealedTexts, (text, sealedText) => {
      expect(readReasoningSecret(writeReasoningSecret({ text, sealedText }))).toEqual({ text, sealedText });
    }),
  );
});

test("a text alone is its own secret, as in earlier releases", () => {
  expect(writeReasoningSecret({ text: "Hm.", sealedText: null })).toBe("Hm.");
  expect(readReasoningSecret("Hm.")).toEqual({ text: "Hm.", sealedText: null });
});
