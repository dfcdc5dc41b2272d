import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { ChatRequest, ChatTool } from "../../context/chat-wire.ts";
import { askServer, type ServerAddress } from "../../model-server/ask-server.ts";
import { isList, textOrNull } from "../../model-server/json-values.ts";
import { inSchemaForm, type SchemaForm, withInstruction } from "./schema-forms.ts";

const ASK_MS_MAX = 60_000;
const NAME_TOKENS_MAX = 128;
const REPLY_BYTES_MAX = 256 * 1024;
const FORMS: readonly SchemaForm[] = ["json_schema", "json_object", "words"];
const DESCRIPTION_CHARACTERS_MAX = 200;

/**
 * Asks the model which tool of a turn it would call, for servers that cannot force a call. Null if it names none; never
 * rejects.
 */
export async function askToolName(
  server: ServerAddress,
  chat: ChatRequest,
  signal: AbortSignal,
): Promise<string | null> {
  const tools = chat.tools ?? [];
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(ASK_MS_MAX)]);
  for (const form of FORMS) {
    const { stream: _stream, stream_options: _options, ...fields } = inSchemaForm(question(chat, tools), form);
    const body = { ...fields, stream: false };
    const path = `${server.apiPath}/chat/completions`;
    const reply = await askServer(server, { path, body, replyBytesMax: REPLY_BYTES_MAX }, deadline);
    if (reply === null) return null;
    const name = reply.status === 200 ? nameIn(choiceContent(reply.body)) : null;
    if (tools.some((tool) => tool.function.name === name)) return name;
  }
  return null;
}

function question(chat: ChatRequest, tools: readonly ChatTool[]): ChatRequest {
  const { tools: _tools, tool_choice: _choice, parallel_tool_calls: _parallel, ...others } = chat;
  const names = tools.map((tool) => tool.function.name);
  const list = tools.map(
    ({ function: { name, description = "" } }) => `${name}: ${description.slice(0, DESCRIPTION_CHARACTERS_MAX)}`,
  );
  const text = `One of these tools is called next. Name it, as {"name": …}.\n${list.join("\n")}`;
  const schema = {
    type: "object",
    properties: { name: { type: "string", enum: names } },
    required: ["name"],
    additionalProperties: false,
  };
  return {
    ...others,
    messages: withInstruction(chat.messages, text),
    max_tokens: NAME_TOKENS_MAX,
    temperature: 0,
    response_format: { type: "json_schema", json_schema: { name: "tool", schema, strict: true } },
  };
}

function nameIn(content: string): string | null {
  const start = content.indexOf("{");
  const answer = jsonOrUndefined(content.slice(start, content.lastIndexOf("}") + 1));
  return isRecord(answer) ? textOrNull(answer["name"]) : null;
}

function choiceContent(body: unknown): string {
  const choices = isRecord(body) ? body["choices"] : null;
  const [choice] = isList(choices) ? choices : [];
  const message = isRecord(choice) ? choice["message"] : null;
  return isRecord(message) ? (textOrNull(message["content"]) ?? "") : "";
}
