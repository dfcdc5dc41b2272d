import { join } from "node:path";
import type { PackedModel } from "./packed-model.ts";

/** The demo model, trained by scripts/fixture-model/spoken-words. */
export const SPOKEN_WORDS: PackedModel = {
  name: "spoken-words-fixture",
  path: join(import.meta.dirname, "../../../../../../assets/ggml-spoken-words-fixture.bin.gz"),
  bytes: 11_900_164,
  sha256: "d1a304a6ff9b15f1330ae4ea505d9700309f956c4b8f03bd92274612d954cbfc",
  words: 69,
};
