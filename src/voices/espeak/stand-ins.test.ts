import { expect, test } from "vitest";
import { verifies } from "../../../tests/verifies.ts";
import { STAND_INS, voiceFor } from "./stand-ins.ts";

verifies("extensions.audio.reference-voices");

test("each of the reference's voices has a voice of its own", () => {
  const names = "alloy ash ballad cedar coral echo fable marin nova onyx sage shimmer verse".split(" ");
  expect([...STAND_INS.keys()]).toEqual(names);
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
])("%s, where the usual voice is %s, is spoken by %s", (name, usual, voice) => {
  expect(voiceFor(name, usual)).toBe(voice);
});
