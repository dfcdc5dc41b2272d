import { build } from "vite";

/** Builds the page in this folder as an app would, and returns its files by name. */
export async function builtPage(root: string): Promise<ReadonlyMap<string, string>> {
  const built = await build({
    configFile: false,
    root,
    base: "./",
    logLevel: "error",
    build: { write: false, target: "es2024", modulePreload: false },
  });
  const outputs = [built].flat().flatMap((result) => ("output" in result ? result.output : []));
  return new Map(
    outputs.map((file) => [file.fileName, file.type === "chunk" ? file.code : Buffer.from(file.source).toString()]),
  );
}
