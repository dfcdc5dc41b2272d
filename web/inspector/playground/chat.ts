import type { Antiphon } from "../../../packages/client/src/index.ts";
import { hasMember, listAt, type Members, membersAt, textAt } from "../base/members.ts";
import { asShownItem, foldEvents, type ShownItem } from "../items/fold-events.ts";
import { asRequest } from "./draft.ts";

/** One request of the playground and what came of it. */
export interface Turn {
  readonly key: number;
  readonly input: readonly Members[];
  readonly output: readonly ShownItem[];
  /** Null until the server names it. */
  readonly responseId: string | null;
  readonly status: "asking" | "completed" | "incomplete" | "failed" | "cancelled" | "stopped";
  readonly error: string | null;
  readonly usage: Members | null;
  readonly firstTokenMs: number | null;
  readonly durationMs: number | null;
  readonly hasSound: boolean;
}

export function newTurn(key: number, input: readonly Members[]): Turn {
  return {
    key,
    input,
    output: [],
    responseId: null,
    status: "asking",
    error: null,
    usage: null,
    firstTokenMs: null,
    durationMs: null,
    hasSound: false,
  };
}

export interface Asking {
  readonly body: Members;
  readonly turn: Turn;
  readonly signal: AbortSignal;
  /** Told of the turn as it grows. */
  readonly show: (turn: Turn) => void;
  /** Told of each piece of sound, in base64. */
  readonly hear: (base64: string) => void;
}

/** The name of the event depends on the dialect. */
const AUDIO = /^response[.](output_)?audio[.]delta$/;
/** Text comes in faster than a page can be drawn. */
const SHOW_INTERVAL_MS = 50;
/** How often a response in the background is looked at that is not streamed. */
const POLL_INTERVAL_MS = 500;

/** Sends a request and shows its answer. Resolves to the finished turn; rejects if the server refused. */
export async function ask(client: Antiphon, asking: Asking): Promise<Turn> {
  return asking.body["stream"] === true ? await askStreamed(client, asking) : await askPlain(client, asking);
}

async function askStreamed(client: Antiphon, { body, turn, signal, show, hear }: Asking): Promise<Turn> {
  const startedAt = performance.now();
  const events: { event: Members }[] = [];
  let current = turn;
  let timer: ReturnType<typeof setTimeout> | null = null;
  const showNow = (): void => {
    timer = null;
    if (!signal.aborted) show({ ...current, output: foldEvents(events) });
  };
  try {
    for await (const event of await client.createResponse({ ...asRequest(body), stream: true }, { signal })) {
      const sound = AUDIO.test(event.type) ? textAt(event, "delta") : "";
      if (sound === "") events.push({ event: { ...event } });
      else hear(sound);
      const isFirst = current.firstTokenMs === null && event.type.endsWith("delta");
      current = {
        ...current,
        hasSound: current.hasSound || sound !== "",
        firstTokenMs: isFirst ? performance.now() - startedAt : current.firstTokenMs,
        responseId: current.responseId ?? (textAt(membersAt(event, "response"), "id") || null),
      };
      timer ??= setTimeout(showNow, SHOW_INTERVAL_MS);
    }
  } finally {
    if (timer !== null) clearTimeout(timer);
  }
  const last = membersAt(events.at(-1)?.event, "response");
  return { ...current, ...endOf(last), output: foldEvents(events), durationMs: performance.now() - startedAt };
}

async function askPlain(client: Antiphon, { body, turn, signal, show }: Asking): Promise<Turn> {
  const startedAt = performance.now();
  let response = await client.createResponse({ ...asRequest(body), stream: false }, { signal });
  while (response.status === "queued" || response.status === "in_progress") {
    show({ ...turn, responseId: response.id });
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
    response = await client.getResponse(response.id, {}, { signal });
  }
  const output = response.output.flatMap((item) => asShownItem(item) ?? []);
  const ended = endOf({ ...response });
  const durationMs = performance.now() - startedAt;
  return { ...turn, ...ended, responseId: response.id, output, hasSound: hasMember(body, "output_audio"), durationMs };
}

function endOf(response: Members): Pick<Turn, "status" | "error" | "usage"> {
  const status = textAt(response, "status");
  const reason = textAt(membersAt(response, "incomplete_details"), "reason");
  return {
    status: status === "failed" || status === "incomplete" || status === "cancelled" ? status : "completed",
    error:
      textAt(membersAt(response, "error"), "message") ||
      (reason === "" ? null : `Cut short: ${reason.replaceAll("_", " ")}`),
    usage: hasMember(response, "usage") ? membersAt(response, "usage") : null,
  };
}

/** The calls of a turn that wait for the client: functions, its own tools, and approvals. */
export function pendingCalls({ output, status }: Turn): readonly ShownItem[] {
  if (status !== "completed") return [];
  const answered = new Set(output.flatMap((item) => (item.type.endsWith("_output") ? [textAt(item, "call_id")] : [])));
  return output.filter((item) => CLIENT_CALLS.has(item.type) && !answered.has(textAt(item, "call_id") || "none"));
}

const CLIENT_CALLS: ReadonlySet<string> = new Set([
  "function_call",
  "custom_tool_call",
  "mcp_approval_request",
  "local_shell_call",
  "apply_patch_call",
  "computer_call",
]);

/** The item that answers a call with a text; of a computer the text is the URL of a picture. */
export function answerTo(call: ShownItem, text: string): Members {
  const callId = textAt(call, "call_id");
  switch (call.type) {
    case "custom_tool_call":
      return { type: "custom_tool_call_output", call_id: callId, output: text };
    case "local_shell_call":
      return { type: "local_shell_call_output", id: textAt(call, "id"), call_id: callId, output: text };
    case "apply_patch_call":
      return { type: "apply_patch_call_output", call_id: callId, status: "completed", output: text };
    case "computer_call":
      return {
        type: "computer_call_output",
        call_id: callId,
        output: { type: "computer_screenshot", image_url: text },
        acknowledged_safety_checks: listAt(call, "pending_safety_checks"),
      };
    default:
      return { type: "function_call_output", call_id: callId, output: text };
  }
}

/** The item that lets an MCP call run, or refuses it. */
export function approvalOf(request: ShownItem, approve: boolean): Members {
  return { type: "mcp_approval_response", approval_request_id: textAt(request, "id"), approve };
}

/** The name by which answers are kept until all calls of a turn have one. */
export function callKey(call: ShownItem): string {
  return textAt(call, "call_id") || textAt(call, "id");
}

/** All items so far, for servers that do not store them. */
export function historyOf(turns: readonly Turn[]): readonly Members[] {
  return turns
    .filter(({ status }) => status === "completed")
    .flatMap(({ input, output }) => [...input, ...output])
    .filter((item) => textAt(item, "type") !== "");
}
