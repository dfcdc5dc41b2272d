/** Compiles the `.wat` files into modules that are loaded from TypeScript. Run it after a change of one of them. */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import wabt from "wabt";

interface WasmSource {
  readonly folder: string;
  /** Of the source, without its ending. */
  readonly name: string;
}

export const WASM_SOURCES: readonly WasmSource[] = [
  { folder: "src/store/search", name: "dot" },
  { folder: "src/vector-stores/local-model", name: "encoder" },
];

/** The path of the module that is made of the source beside it. */
export function wasmPath({ folder, name }: WasmSource): string {
  return fileURLToPath(new URL(`../${folder}/${name}-wasm.ts`, import.meta.url));
}

/** The text of the module. */
export async function wasmModule({ folder, name }: WasmSource): Promise<string> {
  const source = readFileSync(new URL(`../${folder}/${name}.wat`, import.meta.url), "utf8");
  const parsed = (await wabt()).parseWat(`${name}.wat`, source, { simd: true });
  const base64 = Buffer.from(parsed.toBinary({}).buffer).toString("base64");
  return `/** Made from \`${name}.wat\` by \`node scripts/build-wasm.ts\`. */\nexport const ${name.toUpperCase()}_WASM =\n  "${base64}";\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const source of WASM_SOURCES) writeFileSync(wasmPath(source), await wasmModule(source));
