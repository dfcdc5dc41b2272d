import { isRecord } from "@antiphon/base/json/records.ts";
import type { ChildServer } from "../kit/child-server.ts";
import { namedFile, uploadFile } from "../kit/upload.ts";

const CLIENTS = 4;

/** Stores a response, a file and a conversation. Resolves to the paths at which they are read. */
export async function storeSome(server: ChildServer, number: number): Promise<readonly string[]> {
  const response = await idIn(server.post("/v1/responses", { model: "antiphon-built-in", input: `Say ${number}` }));
  const items = [{ type: "message", role: "user", content: `Note ${number}` }];
  const conversation = await idIn(server.post("/v1/conversations", { items }));
  const file = await idIn(uploadFile(server, namedFile(`File ${number}. `.repeat(1000), `file-${number}.txt`)));
  const itemPaths = [`/v1/responses/${response}/input_items`, `/v1/conversations/${conversation}/items`];
  return [`/v1/responses/${response}`, ...itemPaths, `/v1/files/${file}`, `/v1/files/${file}/content`];
}

async function idIn(asked: Promise<Response>): Promise<string> {
  const body: unknown = await (await asked).json();
  if (!isRecord(body) || typeof body["id"] !== "string") throw new Error(`no id in ${JSON.stringify(body)}`);
  return body["id"];
}

/** What a server answers at each path, with the status. */
export async function answersOf(server: ChildServer, paths: readonly string[]): Promise<readonly string[]> {
  const answers: string[] = [];
  for (const path of paths) {
    const reply = await server.fetch(path);
    answers.push(`${path} ${reply.status} ${await reply.text()}`);
  }
  return answers;
}

/** Clients that store, read and delete until told to stop. */
export function keepBusy(server: ChildServer) {
  let isOver = false;
  let answered = 0;
  const failed: string[] = [];
  const client = async (number: number): Promise<void> => {
    while (!isOver) {
      const paths = await storeSome(server, number);
      const deleted = paths.find((path) => /^\/v1\/files\/[^/]+$/.test(path)) ?? "";
      const { status } = await server.fetch(deleted, { method: "DELETE" });
      if (status === 200) answered += 1;
      else failed.push(`${deleted}: ${status}`);
    }
  };
  const clients = Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)));
  const end = async () => {
    isOver = true;
    await clients;
    return { answered, failed };
  };
  return { end };
}
