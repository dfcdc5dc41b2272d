import { isRecord } from "@antiphon/base/json/records.ts";
import { RequestRefused } from "../request-refused.ts";
import {
  type ChatTurn,
  type PromptPart,
  type Sampling,
  type TurnChoice,
  type TurnFormat,
  type TurnFunction,
  type TurnMessage,
  words,
} from "./chat-turn.ts";
import { callParts, toolOutputParts } from "./tool-texts.ts";

const STOPS_MAX = 16;
const STOP_CHARACTERS_MAX = 256;
const FUNCTIONS_MAX = 512;
const SYSTEM_ROLES: ReadonlySet<unknown> = new Set(["system", "developer"]);

/** Reads the body of a chat-completions request. Throws `RequestRefused`. */
export function readChatTurn(body: Readonly<Record<string, unknown>>): ChatTurn {
  refuseUnknownWishes(body);
  const functions = readFunctions(body["tools"]);
  const { messages, beginning } = readMessages(body);
  const options = isRecord(body["stream_options"]) ? body["stream_options"] : {};
  return {
    messages,
    functions,
    choice: readChoice(body["tool_choice"], functions),
    format: readFormat(body["response_format"]),
    sampling: readSampling(body),
    tokensMax: readLimit(body["max_completion_tokens"] ?? body["max_tokens"]),
    stops: readStops(body["stop"]),
    beginning,
    caller: typeof body["user"] === "string" ? body["user"] : null,
    isStream: body["stream"] === true,
    includesUsage: options["include_usage"] === true,
  };
}

function refuseUnknownWishes({ n, logprobs, top_logprobs: top }: Readonly<Record<string, unknown>>): void {
  if (n !== undefined && n !== null && n !== 1)
    throw new RequestRefused("The embedded model gives one answer at a time: n must be 1.", { param: "n" });
  if (logprobs === true || (typeof top === "number" && top > 0))
    throw new RequestRefused("The embedded model does not tell probabilities: logprobs is not supported.", {
      param: "logprobs",
      code: "unsupported_parameter",
    });
}

function readMessages(body: Readonly<Record<string, unknown>>): Pick<ChatTurn, "messages" | "beginning"> {
  const list: readonly unknown[] = Array.isArray(body["messages"]) ? body["messages"] : [];
  if (list.length === 0)
    throw new RequestRefused("messages must be a list with at least one message.", { param: "messages" });
  const last = list.at(-1);
  const goesOn = body["continue_final_message"] === true && isRecord(last) && last["role"] === "assistant";
  const read = (goesOn ? list.slice(0, -1) : list).map(readTurnMessage);
  return { messages: read, beginning: goesOn && isRecord(last) ? contentText(last["content"]) : "" };
}

function readTurnMessage(message: unknown): TurnMessage {
  if (!isRecord(message)) throw new RequestRefused("Each message must be an object.", { param: "messages" });
  const { role, content } = message;
  const text = contentText(content);
  if (SYSTEM_ROLES.has(role)) return { role: "system", parts: [words(text)] };
  if (role === "tool") return { role: "user", parts: toolOutputParts(text) };
  if (role === "assistant") return { role, parts: [...(text === "" ? [] : [words(text)]), ...callsOf(message)] };
  if (role === "user") return { role, parts: [words(text)] };
  throw new RequestRefused(`There is no role ${JSON.stringify(role)}.`, { param: "messages" });
}

function callsOf(message: Readonly<Record<string, unknown>>): readonly PromptPart[] {
  const calls: readonly unknown[] = Array.isArray(message["tool_calls"]) ? message["tool_calls"] : [];
  return calls.flatMap((call) => {
    const callee = isRecord(call) && isRecord(call["function"]) ? call["function"] : {};
    return callParts(textOr(callee["name"], ""), textOr(callee["arguments"], "{}"));
  });
}

/** The text of a message: a string, nothing, or a list of texts. Other parts are refused by their type. */
function contentText(content: unknown): string {
  if (content === undefined || content === null) return "";
  if (typeof content === "string") return content;
  if (!Array.isArray(content))
    throw new RequestRefused("The content of a message must be text.", { param: "messages" });
  return content
    .map((part: unknown) => {
      const type = isRecord(part) ? part["type"] : typeof part;
      const text = isRecord(part) ? (part["text"] ?? part["refusal"]) : part;
      if (typeof text === "string") return text;
      throw new RequestRefused(`The embedded model reads only text, not ${String(type)}.`, { param: "messages" });
    })
    .join("\n");
}

function readFunctions(tools: unknown): readonly TurnFunction[] {
  if (tools === undefined || tools === null) return [];
  if (!Array.isArray(tools) || tools.length > FUNCTIONS_MAX)
    throw new RequestRefused(`tools must be a list of at most ${FUNCTIONS_MAX}.`, { param: "tools" });
  return tools.map((tool: unknown, place) => {
    const entry = isRecord(tool) && isRecord(tool["function"]) ? tool["function"] : {};
    const { name, description, parameters } = entry;
    if (typeof name !== "string" || name === "")
      throw new RequestRefused("Each tool must be a function with a name.", { param: `tools[${place}]` });
    return {
      name,
      description: typeof description === "string" ? description : "",
      parameters: parameters ?? { type: "object", properties: {} },
    };
  });
}

function readChoice(choice: unknown, functions: readonly TurnFunction[]): TurnChoice {
  if (functions.length === 0 || choice === "none") return { type: "none" };
  if (choice === undefined || choice === null || choice === "auto") return { type: "auto" };
  if (choice === "required") return { type: "call", functions };
  const name = isRecord(choice) && isRecord(choice["function"]) ? choice["function"]["name"] : null;
  const target = functions.find((one) => one.name === name);
  if (target === undefined)
    throw new RequestRefused("tool_choice names no tool of the request.", { param: "tool_choice" });
  return { type: "call", functions: [target] };
}

function readFormat(format: unknown): TurnFormat {
  if (format === undefined || format === null) return { type: "text" };
  const type = isRecord(format) ? format["type"] : null;
  if (type === "text") return { type };
  if (type === "json_object")
    return isRecord(format) && isRecord(format["schema"])
      ? { type: "json_schema", schema: format["schema"] }
      : { type };
  const target = isRecord(format) && isRecord(format["json_schema"]) ? format["json_schema"] : {};
  if (type === "json_schema" && target["schema"] !== undefined) return { type, schema: target["schema"] };
  throw new RequestRefused("response_format must be text, json_object, or json_schema with a schema.", {
    param: "response_format",
  });
}

function readSampling(body: Readonly<Record<string, unknown>>): Sampling {
  return {
    temperature: numberOrNull(body["temperature"]),
    topP: numberOrNull(body["top_p"]),
    seed: numberOrNull(body["seed"]),
    frequencyPenalty: numberOrNull(body["frequency_penalty"]) ?? 0,
    presencePenalty: numberOrNull(body["presence_penalty"]) ?? 0,
  };
}

function readLimit(limit: unknown): number | null {
  if (limit === undefined || limit === null || limit === -1) return null;
  if (typeof limit !== "number" || !Number.isInteger(limit) || limit < 1)
    throw new RequestRefused("max_tokens must be a whole number from 1.", { param: "max_tokens" });
  return limit;
}

function readStops(stop: unknown): readonly string[] {
  const list: readonly unknown[] = stop === undefined || stop === null ? [] : Array.isArray(stop) ? stop : [stop];
  return list.slice(0, STOPS_MAX).filter((one): one is string => {
    return typeof one === "string" && one !== "" && one.length <= STOP_CHARACTERS_MAX;
  });
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === "string" ? value : otherwise;
}

function numberOrNull(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}
