import { ApiError } from "@antiphon/base/api-error.ts";
import type { CreateChatCompletionRequest } from "@antiphon/contracts/chat-completions/types.ts";
import { invalidRequest } from "../../responses-api/errors/invalid-request.ts";
import { unsupportedParameter } from "../../responses-api/errors/parameter-errors.ts";

const STOPS_MAX = 16;

/** Refuses what a chat completion cannot show, or this server cannot do. Throws an `ApiError`. */
export function checkChatRequest(body: CreateChatCompletionRequest): void {
  const { n, store, stop, tools, web_search_options: webSearch } = body;
  if (speaks(body)) checkSpoken(body);
  if (Array.isArray(stop) && stop.length > STOPS_MAX)
    throw unsupportedParameter("stop", `at most ${STOPS_MAX} sequences`);
  const offersHosted =
    webSearch != null || tools?.some(({ type }) => type !== "function" && type !== "custom") === true;
  if ((n ?? 1) > 1 && offersHosted)
    throw unsupportedParameter("n", "several answers are not available with tools of this server");
  if ((n ?? 1) > 1 && store === true) throw unsupportedParameter("n", "several answers are not available with store");
  for (const [index, tool] of (tools ?? []).entries()) checkTool(tool, index);
}

/** Whether the answer is to be spoken. */
export function speaks({ modalities }: Pick<CreateChatCompletionRequest, "modalities">): boolean {
  return modalities?.includes("audio") === true;
}

function checkSpoken({ audio, n }: CreateChatCompletionRequest): void {
  if (audio == null)
    throw invalidRequest(
      400,
      "missing_required_parameter",
      "audio",
      "Missing required parameter: 'audio'. A spoken answer needs its voice and format.",
    );
  if (audio.format === "aac" || audio.format === "flac")
    throw unsupportedParameter("audio.format", "spoken answers are wav, mp3, opus or pcm16");
  if ((n ?? 1) > 1) throw unsupportedParameter("n", "several answers are not available with sound");
}

type Tool = NonNullable<CreateChatCompletionRequest["tools"]>[number];

/** A chat completion cannot ask for an approval, or for a command of the client. */
function checkTool(tool: Tool, index: number): void {
  const param = `tools[${index}]`;
  if (tool.type === "mcp" && tool.require_approval !== "never")
    throw unsupportedParameter(
      `${param}.require_approval`,
      'a chat completion cannot ask for an approval: use "never", or the Responses API',
    );
  if (tool.type === "shell" && tool.environment?.type === "local")
    throw unsupportedParameter(
      `${param}.environment`,
      "a chat completion cannot ask for a command: use the Responses API",
    );
  if (tool.type === "tool_search" && tool.execution === "client")
    throw unsupportedParameter(
      `${param}.execution`,
      "a chat completion cannot ask for a search of tools: use the Responses API",
    );
}

/** Members of a create request, and the chat member that they come from. */
const MEMBERS: readonly (readonly [from: string, to: string])[] = [
  ["max_output_tokens", "max_completion_tokens"],
  ["text.format", "response_format"],
  ["text.verbosity", "verbosity"],
  ["reasoning.effort", "reasoning_effort"],
  ["output_audio", "audio"],
];

/** The same error, with the names and the status of chat completions. An item has no exact place among the messages. */
export function chatError(error: ApiError): ApiError {
  const { type, code, message, headers, quoted, cause } = error;
  const param = chatParam(error.param);
  const status = code === "model_not_found" ? 404 : error.status; // A response has another one, as the reference does.
  if (param === error.param && status === error.status) return error;
  return new ApiError({ status, type, code, message, param, headers, quoted, cause });
}

function chatParam(param: string | null): string | null {
  if (param === null) return null;
  if (/^input\b/.test(param)) return "messages";
  const renamed = MEMBERS.find(([from]) => param === from || param.startsWith(`${from}.`));
  return renamed === undefined ? param : renamed[1] + param.slice(renamed[0].length);
}

export function completionNotFound(id: string): ApiError {
  return invalidRequest(404, null, "completion_id", `Chat completion with id '${id}' not found.`);
}
