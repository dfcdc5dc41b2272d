import { join } from "node:path";
import type { PackedModel } from "./packed-model.ts";

/** What scripts/fixture-model/spoken-words has trained. */
export const SPOKEN_WORDS: PackedModel = {
  name: "spoken-words-fixture",
  path: join(import.meta.dirname, "../../../assets/ggml-spoken-words-fixture.bin.gz"),
  bytes: 11_900_164,
  sha256: "52f34bf5d7687622f11e7533fce797ce26f43a362a6b4ed650cecc0a37fb4634",
  words: 69,
};
