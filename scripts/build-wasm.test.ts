import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { WASM_MODULE, wasmModule } from "./build-wasm.ts";

test("the compiled module is that of its source", async () => {
  expect(readFileSync(WASM_MODULE, "utf8")).toBe(await wasmModule());
});
