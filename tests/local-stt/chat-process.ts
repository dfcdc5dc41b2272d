import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

/**
 * A chat-completions server in its own process, with a model of few words. It formats the text between the marks, and
 * answers anything else with a greeting. The model `obedient` follows orders in a text, as weak models do. It prints
 * its port, and then each action.
 */
const { values } = parseArgs({
  options: {
    key: { type: "string", default: "" },
    /** 0 picks a free port. */
    port: { type: "string", default: "0" },
    /** Milliseconds before each word. */
    pace: { type: "string", default: "0" },
    /** Whether it can stream. */
    plain: { type: "boolean", default: false },
  },
});

const MODELS = ["writer", "obedient"];

interface Message {
  readonly role: string;
  readonly content: string;
}

interface Call {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly stream?: boolean;
  readonly stream_options?: { readonly include_usage?: boolean } | null;
}

const server = createServer((request, response) => {
  answer(request, response).catch(() => response.destroy());
});
server.listen(Number(values.port), "127.0.0.1", () => {
  const address = server.address();
  if (address !== null && typeof address === "object") console.log(`port ${address.port}`);
});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = "";
  for await (const piece of request.setEncoding("utf8")) body += String(piece);
  if (values.key !== "" && request.headers.authorization !== `Bearer ${values.key}`)
    return refuse(response, 401, "Incorrect API key provided", "invalid_api_key");
  const route = `${request.method} ${request.url}`;
  if (route === "GET /api/version") return give(response, 200, { version: "0.12.6" }); // As Ollama sends it.
  if (route === "GET /v1/models") return give(response, 200, { object: "list", data: MODELS.map(modelEntry) });
  if (route !== "POST /v1/chat/completions") return refuse(response, 404, `no ${route}`, "not_found");
  const call: unknown = parsed(body);
  if (!isCall(call))
    return refuse(response, 400, "messages must be a list of roles and texts", "invalid_request_error");
  if (!MODELS.includes(call.model)) return refuse(response, 404, `no model ${call.model}`, "model_not_found");
  const words = textFor(call).split(/(?<= )/);
  console.log(`answers ${call.stream === true ? "streamed" : "plainly"}`);
  if (call.stream === true && !values.plain) return stream(response, call, words);
  await sleep(Number(values.pace) * words.length);
  const message = { role: "assistant", content: words.join("") };
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  give(response, 200, { ...headOf(call, "chat.completion"), choices, usage: usageOf(call, words) });
}

async function stream(response: ServerResponse, call: Call, words: readonly string[]): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  const head = headOf(call, "chat.completion.chunk");
  const send = (delta: object, finish: string | null = null): void =>
    void response.write(
      `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
    );
  send({ role: "assistant", content: "" });
  for (const content of words) {
    await sleep(Number(values.pace));
    send({ content });
    console.log("word");
  }
  send({}, "stop");
  if (call.stream_options?.include_usage === true)
    response.write(`data: ${JSON.stringify({ ...head, choices: [], usage: usageOf(call, words) })}\n\n`);
  response.end("data: [DONE]\n\n");
}

/** The answer of the model. */
function textFor({ model, messages }: Call): string {
  const last = messages.at(-1)?.content ?? "";
  const [system = ""] = messages.map(({ content }) => content);
  const marked = /^<(text-\w+)>\n([\s\S]*)\n<\/\1>$/.exec(last)?.[2];
  const order = /\b(?:say|write|output) "?(\w+)"? and nothing else/.exec(last)?.[1];
  if (model === "obedient" && order !== undefined) return order;
  if (marked !== undefined && system.includes("as a list"))
    // The text between the marks of the request.
    return last.replace(marked, marked.replace(/^|(?: and)? /g, "\n- ").trim());
  if (marked !== undefined) return `${marked.charAt(0).toUpperCase()}${marked.slice(1)}.`;
  return `You said: ${last}`;
}

function headOf({ model }: Call, object: string): object {
  return { id: "chatcmpl-process", object, created: 1_700_000_000, model };
}

function usageOf({ messages }: Call, words: readonly string[]): object {
  const asked = messages.reduce((sum, { content }) => sum + content.split(/\s+/).length, 0);
  return { prompt_tokens: asked, completion_tokens: words.length, total_tokens: asked + words.length };
}

function modelEntry(id: string): object {
  return { id, object: "model", created: 1_700_000_000, owned_by: "tests" };
}

function refuse(response: ServerResponse, status: number, message: string, code: string): void {
  give(response, status, { error: { message, type: code, param: null, code } });
}

function give(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isCall(value: unknown): value is Call {
  if (typeof value !== "object" || value === null || !("messages" in value) || !("model" in value)) return false;
  const { messages, model } = value;
  return typeof model === "string" && Array.isArray(messages) && messages.length > 0 && messages.every(isMessage);
}

function isMessage(value: unknown): value is Message {
  if (typeof value !== "object" || value === null || !("role" in value) || !("content" in value)) return false;
  return ["system", "user", "assistant"].includes(String(value.role)) && typeof value.content === "string";
}
