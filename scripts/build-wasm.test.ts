import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { WASM_SOURCES, wasmModule, wasmPath } from "./build-wasm.ts";

test.each(WASM_SOURCES)("the compiled module $name is that of its source", async (source) => {
  expect(readFileSync(wasmPath(source), "utf8")).toBe(await wasmModule(source));
});
