import type { ResponsesApi } from "../../../packages/client/src/index.ts";
import { type Members, textAt } from "../base/members.ts";
import { chatRequestOf } from "./chat-request.ts";
import { inputOf } from "./door-members.ts";
import { messageRequestOf } from "./message-request.ts";

/** A request as its client sent it, as far as the run tells. */
export interface DoorRequest {
  readonly path: string;
  readonly body: Members;
}

/** A create request in the words of the door that its run came by. Settings for the model server alone are not kept. */
export function doorRequest(request: Members, face: ResponsesApi.ResponseSummary["face"]): DoorRequest {
  switch (face) {
    case "chat":
      return { path: "/v1/chat/completions", body: chatRequestOf(request) };
    case "messages":
      return { path: "/v1/messages", body: messageRequestOf(request) };
    case "completions":
      return { path: "/v1/completions", body: completionRequestOf(request) };
    case null:
      return { path: "/v1/responses", body: request };
  }
}

function completionRequestOf(request: Members): Members {
  const { messages: _, max_completion_tokens: tokensMax, ...settings } = chatRequestOf(request);
  const content = inputOf(request)[0]?.["content"];
  const prompt = typeof content === "string" ? content : textAt(Array.isArray(content) ? content[0] : null, "text");
  return { ...settings, prompt, max_tokens: tokensMax };
}
