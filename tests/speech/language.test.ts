import { silentLogger } from "@antiphon/base/logger.ts";
import { expect, test } from "vitest";
import { startLocalSttServer } from "../local-stt-server.ts";
import { verifies } from "../verifies.ts";
import { tones } from "./tones.ts";
import { hear, startToneEngine, whisperForTests } from "./whisper-for-tests.ts";

const program = await whisperForTests();

test("a language that no model knows stops the start with a message that names the setting", async () => {
  verifies("stt.language.setting");
  const outcome = startLocalSttServer({ env: { SPEECH_ENGINE: "whisper", SPEECH_LANGUAGE: "tlh" } });
  await expect(outcome).rejects.toMatchObject({
    problems: ["SPEECH_LANGUAGE is 'tlh', a language that no speech model knows."],
  });
});

test.skipIf(program === null)("an English-only model is reported as such, and transcribes English", async () => {
  verifies("stt.language.setting");
  const warnings: object[] = [];
  const log = {
    ...silentLogger,
    warn: (fields: object, message: string) => void warnings.push({ message, ...fields }),
  };
  const engine = await startToneEngine(program ?? "", { language: "de", log });
  expect(warnings).toMatchObject([{ message: expect.stringContaining("knows English only"), language: "de" }]);
  expect(await hear(engine, tones("six"))).toMatchObject({ text: "six", language: "en" });
  expect(["en-GB", "de", "tlh"].map((language) => engine.knowsLanguage(language))).toEqual([true, false, false]);
});
