import { afterAll } from "vitest";
import { lastChunk, sse, textChunk, toolDelta } from "../../src/model-engines/chat-completions/chat-chunks.fixture.ts";
import { serveHttp } from "../kit/http-server.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";

/**
 * A server whose model server looks for a tool, calls `create_invoice` and says so. Asked once more, it says how many
 * outputs of tools it was shown. Both end with the tests of the file.
 */
export async function startInvoiceServer(): Promise<TestServer> {
  const model = await serveHttp((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(sse(...answerTo(Buffer.concat(pieces).toString()), "[DONE]"));
    });
  }, afterAll);
  const server = await startTestServer({ env: { MODEL_BASE_URL: `${model.url}/v1` } });
  afterAll(() => server.close());
  return server;
}

/** Requests that have no body ask for something else than an answer. */
function answerTo(body: string): readonly unknown[] {
  if (body === "") return [];
  const { messages }: { messages: readonly { readonly role: string; readonly content: string | null }[] } =
    JSON.parse(body);
  const outputs = messages.filter(({ role }) => role === "tool").length;
  if (messages.at(-1)?.content?.includes("What did I say?") === true) return says(`Shown ${outputs} outputs.`);
  if (outputs === 0) return calls("tool_search", '{"query":"invoice"}');
  return outputs === 1 ? calls("create_invoice", "{}") : says("Done.");
}

function says(text: string): readonly unknown[] {
  return [textChunk(text), lastChunk("stop")];
}

function calls(name: string, args: string): readonly unknown[] {
  const call = { id: `call_${name}`, type: "function", function: { name, arguments: args } };
  return [toolDelta(0, call), lastChunk("tool_calls")];
}
