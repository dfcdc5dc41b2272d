import { readFile } from "node:fs/promises";

const PARTS = ["magics.py", "pictures.py", "notebook.py"];

/** The source of the module that runs code as a notebook does, for any engine. */
export async function notebookSource(): Promise<string> {
  const parts = await Promise.all(PARTS.map((name) => readFile(new URL(name, import.meta.url), "utf8")));
  return parts.join("\n");
}
