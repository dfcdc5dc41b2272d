import type { ChildServer } from "../kit/child-server.ts";
import { streamedData } from "../kit/event-stream.ts";

export const KINDS = ["foreground", "foreground stream", "background", "background stream", "conversation"] as const;
export type Kind = (typeof KINDS)[number];

/** What one client had received when its connection broke. */
export interface ClientView {
  readonly kind: Kind;
  /** Null if the server died before it sent the id. */
  id: string | null;
  /** The received events as JSON, in order. */
  readonly events: string[];
}

interface Question {
  readonly onId?: (() => void) | undefined;
  readonly input?: string;
}

/** Requests one response and reads until its end or the server's death. `onId` is called once its id is known. */
export async function ask(
  server: ChildServer,
  kind: Kind,
  conversation: string,
  { onId = () => {}, input = `Hello from a ${kind} client` }: Question = {},
): Promise<ClientView> {
  const clientView: ClientView = { kind, id: null, events: [] };
  const body = {
    model: "m",
    input,
    background: kind.startsWith("background"),
    stream: kind !== "foreground" && kind !== "background",
    stream_options: kind === "foreground" || kind === "background" ? null : { include_obfuscation: false },
    ...(kind === "conversation" ? { conversation } : {}),
  };
  try {
    const reply = await server.post("/v1/responses", body);
    if (body.stream) await readEvents(reply, clientView, onId);
    else learnId(clientView, await reply.text(), onId);
  } catch {
    // The server died, as this test wants.
  }
  return clientView;
}

export async function readEvents(reply: Response, clientView: ClientView, onId: () => void = () => {}): Promise<void> {
  if (reply.status !== 200) return; // Another writer held the conversation.
  for await (const data of streamedData(reply)) {
    clientView.events.push(data);
    learnId(clientView, data, onId);
  }
}

function learnId(clientView: ClientView, json: string, onId: () => void): void {
  if (clientView.id !== null) return;
  clientView.id = /"id":\s*"(resp_[0-9a-f]+)"/.exec(json)?.[1] ?? null;
  if (clientView.id !== null) onId();
}
