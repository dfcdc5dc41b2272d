import { LoadGenerator } from "./load-generator.ts";
import { PAIRED_ROWS, printPaired, warmUp } from "./paired-cpu.ts";
import { type Server, startServer, startUpstream, THIS_TREE } from "./servers.ts";
import { type Side, serverSide } from "./sides.ts";

const RATIO_MAX = 1.15;

/**
 * Measures what a chat completion and a message cost beside the same response with `store: false`: the processor time
 * of one server, asked by all doors in turn.
 */
export async function measureFaces(): Promise<void> {
  const upstream = await startUpstream();
  const server = await startServer({ root: THIS_TREE, upstream });
  const load = new LoadGenerator();
  const base = { name: "response", side: serverSide(server, { stores: false }) };
  const others = { chat: doorSide(server, CHAT), messages: doorSide(server, MESSAGES) };
  try {
    await warmUp(load, [base.side, ...Object.values(others)]);
    for (const row of PAIRED_ROWS) await printPaired(row, { base, others, ratioMax: RATIO_MAX }, load);
  } finally {
    load.stop();
    server.stop();
    upstream.stop();
  }
}

/** How the same server is asked by another door. */
interface Door {
  readonly path: string;
  /** Members beside the model, the messages and whether the answer is streamed. */
  readonly members: object;
  /** The end of a stream and of a plain answer, and what begins a text in a stream. */
  readonly marks: { readonly streamed: string; readonly plain: string; readonly text: string };
}

const CHAT: Door = {
  path: "/v1/chat/completions",
  members: {},
  marks: { streamed: "data: [DONE]\n", plain: '"finish_reason": "stop"', text: '"delta":{"content":" ' },
};
const MESSAGES: Door = {
  path: "/v1/messages",
  members: { max_tokens: 100_000 },
  marks: {
    streamed: "event: message_stop\n",
    plain: '"stop_reason": "end_turn"',
    text: '"delta":{"type":"text_delta","text":" ',
  },
};

function doorSide(server: Server, { path, members, marks }: Door): Side {
  const side = serverSide(server, { stores: false });
  return {
    pid: server.pid,
    job: (asked) => {
      const { isStreamed = true } = asked;
      const job = side.job(asked);
      const { model }: { readonly model: string } = JSON.parse(job.body);
      const messages = [{ role: "user", content: "Hi" }];
      return {
        ...job,
        path,
        body: JSON.stringify({ model, messages, stream: isStreamed, ...members }),
        endMark: isStreamed ? marks.streamed : marks.plain,
        textMark: marks.text,
      };
    },
  };
}
