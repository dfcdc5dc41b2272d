import { Client, type ElicitResult, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/client";
import type { HttpTransport } from "./open-transport.ts";
import type { QuestionParams } from "./questions/user-question.ts";

/** The maximum of a method's name that is quoted. */
const METHOD_CHARACTERS_MAX = 100;

/** What a server says about itself when a connection is opened. */
export interface ServerTraits {
  /** How its tools are used; null if it says nothing. */
  readonly instructions: string | null;
  readonly hasResources: boolean;
}

export interface ClientListener {
  readonly onNewList: () => void;
  /** Asks the user; null if he cannot be asked. */
  readonly onQuestion: ((params: QuestionParams, signal: AbortSignal) => Promise<ElicitResult>) | null;
}

/** A client that hears when the list of tools has changed. It refuses questions of the server that nobody answers. */
export function createMcpClient(
  kind: HttpTransport,
  version: string,
  { onNewList, onQuestion }: ClientListener,
): Client {
  const client = new Client(
    { name: "antiphon", version },
    {
      // Servers before 2026 have one way to begin; servers with SSE are older.
      versionNegotiation: { mode: kind === "sse" ? "legacy" : "auto" },
      inputRequired: { autoFulfill: false },
      ...(onQuestion === null ? {} : { capabilities: { elicitation: { form: {}, url: {} } } }),
    },
  );
  if (onQuestion !== null)
    client.setRequestHandler("elicitation/create", ({ params }, { mcpReq }) =>
      onQuestion({ ...params }, mcpReq.signal),
    );
  client.setNotificationHandler("notifications/tools/list_changed", onNewList);
  client.fallbackRequestHandler = refuseRequest;
  return client;
}

/** Asks a program of the newer protocol to tell when its list changes. Others tell unasked. */
export function listenForLists(client: Client): void {
  if (client.getProtocolEra() !== "modern" || client.getServerCapabilities()?.tools?.listChanged !== true) return;
  client.listen({ toolsListChanged: true }).catch(() => {}); // Without it the list is read when a chain begins.
}

/**
 * Answers a server that asks something during a call although no such capability was declared. Most servers put the
 * message into the result of the call, so it is also for the model.
 */
async function refuseRequest({ method }: { readonly method: string }): Promise<never> {
  throw new ProtocolError(
    ProtocolErrorCode.MethodNotFound,
    `The client does not answer ${method.slice(0, METHOD_CHARACTERS_MAX)}: nobody and no model can be asked during a call. All that the tool needs must be in the arguments of the call.`,
  );
}
