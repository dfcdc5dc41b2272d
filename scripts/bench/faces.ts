import { LoadGenerator } from "./load-generator.ts";
import { cpuOfTree } from "./processes.ts";
import { type Server, startServer, startUpstream, THIS_TREE } from "./servers.ts";
import { type Asked, type Side, serverSide } from "./sides.ts";
import { median } from "./statistics.ts";

const ROUNDS = 9;
const RATIO_MAX = 1.15;
const WARM_UP = 8000;

interface FaceRow {
  readonly title: string;
  readonly asked: Asked;
  /** What the processor time is divided by. */
  readonly units: number;
}

const JSON_COUNT = 1600;
const STREAMS = 128;
const TOKENS = 200;

const ROWS: readonly FaceRow[] = [
  {
    title: "JSON request, 16 at once",
    asked: { shape: { tokens: 20, perWrite: 20 }, isStreamed: false, count: JSON_COUNT, atOnce: 16 },
    units: JSON_COUNT,
  },
  {
    title: "1,000 token events, 64 streams",
    asked: { shape: { tokens: TOKENS, perWrite: 4 }, count: STREAMS, atOnce: 64 },
    units: (STREAMS * TOKENS) / 1000,
  },
];

/**
 * Measures what a chat completion and a message cost beside the same response with `store: false`: the processor time
 * of one server, asked by all doors in turn.
 */
export async function measureFaces(): Promise<void> {
  const upstream = await startUpstream();
  const server = await startServer({ root: THIS_TREE, upstream });
  const load = new LoadGenerator();
  const response = serverSide(server, { stores: false });
  const doors = { chat: doorSide(server, CHAT), messages: doorSide(server, MESSAGES) };
  try {
    for (const side of [response, ...Object.values(doors)])
      await load.performWell(
        side.job({ ...ROWS[0]?.asked, shape: { tokens: 20, perWrite: 20 }, count: WARM_UP, atOnce: 16 }),
      );
    for (const row of ROWS) await printRow(row, { response, doors }, load);
  } finally {
    load.stop();
    server.stop();
    upstream.stop();
  }
}

interface ComparedSides {
  readonly response: Side;
  readonly doors: Readonly<Record<string, Side>>;
}

async function printRow(
  { title, asked, units }: FaceRow,
  { response, doors }: ComparedSides,
  load: LoadGenerator,
): Promise<void> {
  const byResponse: number[] = [];
  const byDoor = new Map(Object.keys(doors).map((door) => [door, [] as number[]]));
  for (let round = 0; round < ROUNDS; round += 1) {
    byResponse.push(await cpuMs(response, load, asked));
    for (const [door, side] of Object.entries(doors)) byDoor.get(door)?.push(await cpuMs(side, load, asked));
  }
  const shown = (values: readonly number[]): string => (median(values) / units).toFixed(3);
  for (const [door, times] of byDoor) {
    const ratio = median(times.map((ms, round) => ms / (byResponse[round] ?? Number.NaN)));
    console.log(
      `${title}: CPU ms by ${door} ${shown(times)}, by response ${shown(byResponse)}, ${ratio.toFixed(2)} times (at most ${RATIO_MAX})`,
    );
  }
}

async function cpuMs(side: Side, load: LoadGenerator, asked: Asked): Promise<number> {
  const before = cpuOfTree(side.pid);
  await load.performWell(side.job(asked));
  return cpuOfTree(side.pid) - before;
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
