import { whisperForTests } from "../tests/speech/whisper-for-tests.ts";

/** Builds the speech engine for the tests if it is missing. */
const program = await whisperForTests((percent) => {
  console.log(`The speech engine is built, once: ${percent === null ? "it begins" : `${percent} %`}`);
});
if (program !== null && process.argv.includes("--path")) console.log(program);
