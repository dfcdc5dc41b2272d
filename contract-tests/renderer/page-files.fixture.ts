import { build } from "vite";

const PAGE = new URL("page/", import.meta.url).pathname;

/** Builds the page as an app would, and returns its files by name. */
export async function buildPage(): Promise<ReadonlyMap<string, string>> {
  const built = await build({
    configFile: false,
    root: PAGE,
    base: "./",
    logLevel: "error",
    build: { write: false, target: "es2024", modulePreload: false },
  });
  const outputs = [built].flat().flatMap((result) => ("output" in result ? result.output : []));
  return new Map(
    outputs.map((file) => [file.fileName, file.type === "chunk" ? file.code : Buffer.from(file.source).toString()]),
  );
}
