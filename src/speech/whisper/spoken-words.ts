import { join } from "node:path";
import type { PackedModel } from "./packed-model.ts";

/** What scripts/fixture-model/spoken-words has trained. */
export const SPOKEN_WORDS: PackedModel = {
  name: "spoken-words-fixture",
  path: join(import.meta.dirname, "../../../assets/ggml-spoken-words-fixture.bin.gz"),
  bytes: 11_949_316,
  sha256: "d45ea74d2ae1c7552b6e26853874b105c93561e6610d9b5cc16ce15ed1e6f70b",
  words: 69,
};
