import { type Server, type ServerOptions, startServer, startUpstream, THIS_TREE } from "./servers.ts";
import { modelName, type UpstreamShape } from "./upstream-shape.ts";

/** An upstream and the server of this checkout in front of it, with calls that need no speed. */
export interface Bench {
  /** Includes `/v1`. */
  readonly serverUrl: string;
  readonly server: Server;
  /** Posts a minimal create request with these `members`; resolves to the parsed body. */
  create(members: object): Promise<Record<string, unknown>>;
  post(path: string, body: object): Promise<Record<string, unknown>>;
  /** Resolves to the body as text. */
  get(path: string): Promise<string>;
  /** Resolves to the body as text. */
  stream(members: object): Promise<string>;
  /** Calls the upstream directly and reads its whole answer. */
  askDirectly(messages: readonly object[]): Promise<void>;
}

/** Starts the upstream and the server, calls `use`, and stops both. */
export async function withServer(
  shape: Partial<UpstreamShape>,
  use: (bench: Bench) => Promise<void>,
  options: Pick<ServerOptions, "env" | "nodeFlags"> = {},
): Promise<void> {
  const upstream = await startUpstream();
  const server = await startServer({ root: THIS_TREE, upstream, ...options });
  try {
    await use(callsOf(server, `http://127.0.0.1:${upstream.port}/v1`, modelName(shape)));
  } finally {
    server.stop();
    upstream.stop();
  }
}

function callsOf(server: Server, upstreamUrl: string, model: string): Bench {
  const { port, headers } = server;
  const serverUrl = `http://127.0.0.1:${port}/v1`;
  const send = async (url: string, body: object): Promise<string> =>
    textOf(await fetch(url, { method: "POST", headers, body: JSON.stringify(body) }));
  const post = async (path: string, body: object): Promise<Record<string, unknown>> =>
    JSON.parse(await send(`${serverUrl}${path}`, body));
  return {
    server,
    serverUrl,
    post,
    get: async (path) => textOf(await fetch(`${serverUrl}${path}`, { headers })),
    stream: (members) => send(`${serverUrl}/responses`, { model, input: "Hi", stream: true, ...members }),
    create: async (members) => {
      const response = await post("/responses", { model, input: "Hi", ...members });
      if (response["error"] !== null) throw new Error(`a response failed: ${JSON.stringify(response["error"])}`);
      return response;
    },
    askDirectly: async (messages) => {
      await send(`${upstreamUrl}/chat/completions`, { model, stream: true, messages });
    },
  };
}

/** The body of a reply. Throws for any status but 200, which ends the bench. */
export async function textOf(reply: Response): Promise<string> {
  const text = await reply.text();
  if (reply.status !== 200) throw new Error(`${reply.url} answered ${reply.status}: ${text.slice(0, 500)}`);
  return text;
}
