import type { CreateResponseRequest, SteerInput, SteerMessage } from "@antiphon/contracts/responses-api/types.ts";

/** Input that a client has added to a response. */
interface Added {
  readonly input: SteerInput;
}

/** The request of the response that takes these inputs: the settings of the one that it follows. */
export function successorRequest(
  request: CreateResponseRequest,
  responseId: string,
  steers: readonly Added[],
): CreateResponseRequest {
  return { ...request, previous_response_id: responseId, input: messagesOf(steers) };
}

/** The request with these inputs before its own. */
export function withSteers(request: CreateResponseRequest, steers: readonly Added[]): CreateResponseRequest {
  if (steers.length === 0) return request;
  const { input = [] } = request;
  const own = typeof input === "string" ? [userMessage(input)] : (input ?? []);
  return { ...request, input: [...messagesOf(steers), ...own] };
}

/** Whether responses with these settings end for added input: others change more than their own items. */
export function takesSteers({ conversation, context_management: compaction }: CreateResponseRequest): boolean {
  return conversation == null && compaction == null;
}

/** Whether a request brings what its client owed after the response that it continues. */
export function bringsResults({ input }: Pick<CreateResponseRequest, "input">): boolean {
  if (!Array.isArray(input)) return false;
  return input.some(({ type }) => type === "mcp_approval_response" || type?.endsWith("_output") === true);
}

function messagesOf(steers: readonly Added[]): SteerMessage[] {
  return steers.flatMap(({ input }) => (typeof input === "string" ? [userMessage(input)] : input));
}

function userMessage(content: string): SteerMessage {
  return { type: "message", role: "user", content };
}
