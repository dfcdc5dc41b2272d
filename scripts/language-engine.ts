import { fetchEngineForTests } from "../tests/embedded-model/language-engine.ts";

/** Fetches the engine of language models for the tests if it is missing, 49 MB of packages. */
const folder = await fetchEngineForTests();
if (folder !== null && process.argv.includes("--path")) console.log(folder);
