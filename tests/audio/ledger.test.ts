import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { verifies } from "../verifies.ts";

const SPECS = join(import.meta.dirname, "../../specs");

test("the ledger says what becomes of each member of an audio request", () => {
  verifies("audio.transcriptions.members");
  const schemas: Record<string, { properties: object }> = parse(
    readFileSync(join(SPECS, "schemas/audio.yaml"), "utf8"),
  );
  const ledger: object = parse(readFileSync(join(SPECS, "audio-ledger.yaml"), "utf8"));
  const membersOf = (prefix: string, schema: string): string[] =>
    Object.keys(schemas[schema]?.properties ?? {}).map((name) => `${prefix}.${name}`);
  expect(Object.keys(ledger).toSorted()).toEqual(
    [
      ...membersOf("transcription", "TranscriptionForm"),
      ...membersOf("translation", "TranslationForm"),
      ...membersOf("speech", "SpeechRequest"),
    ].toSorted(),
  );
});
