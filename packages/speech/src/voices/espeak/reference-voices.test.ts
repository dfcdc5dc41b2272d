import { expect, test } from "vitest";
import { verifies } from "../../../../../tests/verifies.ts";
import { REFERENCE_VOICES, voiceFor } from "./reference-voices.ts";

verifies("extensions.audio.reference-voices");

test("each reference voice has a different espeak-ng voice", () => {
  const names = "alloy ash ballad cedar coral echo fable marin nova onyx sage shimmer verse".split(" ");
  expect([...REFERENCE_VOICES.keys()]).toEqual(names);
  expect(new Set(names.map((name) => voiceFor(name, null))).size).toBe(names.length);
});

test.each([
  ["alloy", null, "en"],
  ["coral", null, "en+f1"],
  ["coral", "de", "de+f1"],
  ["coral", "de+m2", "de+f1"],
  ["alloy", "de+m2", "de"],
  ["onyx", "coral", "en+m7"],
  ["fr", "de", "fr"],
  ["en-us+f3", null, "en-us+f3"],
])("%s with the default voice %s is spoken by %s", (name, defaultVoice, voice) => {
  expect(voiceFor(name, defaultVoice)).toBe(voice);
});
