import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Bundle, Schemas } from "./bundle.ts";
import { codegenFolder, header, type StreamSpec } from "./contracts.ts";
import { runTool } from "./run-tool.ts";
import { streamSkeleton } from "./stream-skeleton.ts";

/** The unions of a document of streams, by @asyncapi/generator with the template of templates/asyncapi. */
export async function generateMessages(bundle: Bundle, schemas: Schemas, stream: StreamSpec, workFolder: string): Promise<string> {
  const input = join(workFolder, `${stream.output}.json`);
  const output = join(workFolder, stream.output);
  await writeFile(input, JSON.stringify(streamSkeleton(bundle, schemas)));
  const env = { ...process.env, NODE_PATH: await emptyNpm(workFolder) };
  await runTool(process.execPath, [join(codegenFolder, "asyncapi-generator.js"), input, output], { cwd: codegenFolder, env });
  return `${header(stream.spec)}${(await readFile(join(output, "messages.ts"), "utf8")).trimEnd()}\n`;
}

/** When it is loaded, the generator looks for a global npm to install templates with, and fails without one. Ours needs no installing. */
async function emptyNpm(workFolder: string): Promise<string> {
  const folder = join(workFolder, "node-path");
  await mkdir(join(folder, "npm"), { recursive: true });
  await writeFile(join(folder, "npm/index.js"), "");
  return folder;
}
