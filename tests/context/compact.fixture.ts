import type {
  Response as ApiResponse,
  CompactedResponse,
  StoredItem,
} from "@antiphon/contracts/responses-api/types.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "../kit/test-server.ts";

export const MODEL = "antiphon-built-in";

export async function start(options: TestServerOptions = {}): Promise<TestServer> {
  return await startTestServer(options);
}

/** Creates a response and expects it to succeed. */
export async function create(server: TestServer, body: object): Promise<ApiResponse> {
  const reply = await server.post("/v1/responses", { model: MODEL, ...body });
  if (reply.status !== 200) throw new Error(`create answered ${reply.status}: ${await reply.text()}`);
  return await reply.json();
}

export async function compact(server: TestServer, body: object): Promise<CompactedResponse> {
  const reply = await server.post("/v1/responses/compact", { model: MODEL, ...body });
  if (reply.status !== 200) throw new Error(`compact answered ${reply.status}: ${await reply.text()}`);
  return await reply.json();
}

export function textOf(items: readonly { readonly type: string }[]): string {
  return items
    .flatMap((item) => ("content" in item && Array.isArray(item.content) ? item.content : []))
    .map((part: unknown) => (typeof part === "object" && part !== null && "text" in part ? String(part.text) : ""))
    .join("\n");
}

export function typesOf(items: readonly { readonly type: string }[]): readonly string[] {
  return items.map(({ type }) => type);
}

export function user(text: string): object {
  return { role: "user", content: text };
}

/** The seal of the compaction item among these. */
export function sealOf(items: readonly (StoredItem | ApiResponse["output"][number])[]): string {
  const compaction = items.find((item) => item.type === "compaction");
  if (compaction?.type !== "compaction") throw new Error("there is no compaction");
  return compaction.encrypted_content;
}
