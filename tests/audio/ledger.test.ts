import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { verifies } from "../verifies.ts";

const SPECS = join(import.meta.dirname, "../../specs");

test("the ledger says what becomes of each member of an audio request and of a live session", () => {
  verifies("audio.transcriptions.members");
  const schemas: Record<string, { properties: object }> = Object.assign(
    {},
    ...["audio.yaml", "realtime.yaml"].map((file) => parse(readFileSync(join(SPECS, "schemas", file), "utf8"))),
  );
  const ledger: object = parse(readFileSync(join(SPECS, "audio-ledger.yaml"), "utf8"));
  const membersOf = (prefix: string, schema: string): string[] =>
    Object.keys(schemas[schema]?.properties ?? {}).map((name) => `${prefix}.${name}`);
  expect(Object.keys(ledger).toSorted()).toEqual(
    [
      ...membersOf("transcription", "TranscriptionForm"),
      ...membersOf("translation", "TranslationForm"),
      ...membersOf("speech", "SpeechRequest"),
      ...membersOf("realtime.transcription", "RealtimeTranscription"),
      ...membersOf("realtime.input", "RealtimeAudioInputUpdate"),
      ...membersOf("realtime.server_vad", "RealtimeServerVad"),
      ...membersOf("realtime.semantic_vad", "RealtimeSemanticVad"),
      ...membersOf("realtime.session", "RealtimeTranscriptionConfig"),
    ].toSorted(),
  );
});
