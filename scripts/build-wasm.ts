/** Compiles `dot.wat` into the module that the search of vectors loads. Run it after a change of that file. */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import wabt from "wabt";

const FOLDER = new URL("../src/store/search/", import.meta.url);
export const WASM_MODULE = fileURLToPath(new URL("dot-wasm.ts", FOLDER));

/** The text of the module, from the source beside it. */
export async function wasmModule(): Promise<string> {
  const source = readFileSync(new URL("dot.wat", FOLDER), "utf8");
  const parsed = (await wabt()).parseWat("dot.wat", source, { simd: true });
  const base64 = Buffer.from(parsed.toBinary({}).buffer).toString("base64");
  return `/** Made from \`dot.wat\` by \`node scripts/build-wasm.ts\`. */\nexport const DOT_WASM =\n  "${base64}";\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(WASM_MODULE, await wasmModule());
