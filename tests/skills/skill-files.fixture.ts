import { buffer } from "node:stream/consumers";
import OpenAI, { toFile } from "openai";
import { ZipFile } from "yazl";

/** SKILL.md of a skill that adds two numbers. */
export function manifest(name: string, description = `About ${name}.`): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n\nRun scripts/add.sh.\n`;
}

/** The same skill as a client of the official SDK sends its files. */
export async function skillFiles(name: string) {
  return [
    await toFile(Buffer.from(manifest(name)), `${name}/SKILL.md`),
    await toFile(Buffer.from("echo $(($1 + $2))\n"), `${name}/scripts/add.sh`),
  ];
}

/** The same files give the same bytes at any time and place. */
const UNDATED = { mtime: new Date(2026, 0, 1), forceDosTimestamp: true };

export async function zipOf(files: Readonly<Record<string, string>>): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [path, text] of Object.entries(files)) zip.addBuffer(Buffer.from(text), path, UNDATED);
  zip.end();
  return await buffer(zip.outputStream);
}

/** An entry of `skills` that carries its files. */
export async function inlineSkill(name: string, files: Readonly<Record<string, string>>) {
  const data = (await zipOf({ "SKILL.md": manifest(name), ...files })).toString("base64");
  const source = { type: "base64", media_type: "application/zip", data } as const;
  return { type: "inline", name, description: `Sent as ${name}.`, source } as const;
}

/** The error that a call of the official SDK rejects with; its message is without the status before it. */
export async function errorOf(call: Promise<unknown>) {
  const error = await call.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof OpenAI.APIError)) throw new Error("the call was not refused", { cause: error });
  return { status: error.status, code: error.code, message: error.message.replace(/^\d+ /, ""), param: error.param };
}
