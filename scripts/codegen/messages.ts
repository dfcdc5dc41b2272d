import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import type { Bundle, Schemas } from "./bundle.ts";
import { codegenFolder, header, type StreamSpec } from "./contracts.ts";
import type { Output } from "./outputs.ts";
import { runTool } from "./run-tool.ts";
import { streamSkeleton } from "./stream-skeleton.ts";

/**
 * Generates the message unions and the channel client of an AsyncAPI document, with @asyncapi/generator and
 * templates/asyncapi.
 */
export async function generateMessages(
  bundle: Bundle,
  schemas: Schemas,
  stream: StreamSpec,
  parentFolder: string,
): Promise<readonly Output[]> {
  const workFolder = join(parentFolder, `${stream.output}-work`);
  const at = (name: string) => join(workFolder, name);
  // A copy, because the generator writes into the template folder.
  await cp(join(codegenFolder, "templates/asyncapi"), at("template"), { recursive: true });
  await writeFile(at("document.json"), JSON.stringify(streamSkeleton(bundle, schemas, stream)));
  const env = { ...process.env, NODE_PATH: await modulePath(workFolder) };
  const script = join(codegenFolder, "asyncapi-generator.js");
  await runTool(process.execPath, [script, at("template"), at("document.json"), at("output")], { env });
  const made = async (path: string, file: string): Promise<Output> => ({
    path,
    text: `${header(stream.spec)}${(await readFile(at(`output/${file}`), "utf8")).trimEnd()}\n`,
  });
  return Promise.all([
    made(stream.output, "messages.ts"),
    ...(stream.client === undefined ? [] : [made(stream.client.output, "client.ts")]),
  ]);
}

/**
 * Returns a NODE_PATH with the template's renderer and an empty npm package. The generator fails at load without a
 * global npm, which it needs only to install templates.
 */
async function modulePath(workFolder: string): Promise<string> {
  const folder = join(workFolder, "node-path");
  await mkdir(join(folder, "npm"), { recursive: true });
  await writeFile(join(folder, "npm/index.js"), "");
  return [folder, join(codegenFolder, "node_modules")].join(delimiter);
}
