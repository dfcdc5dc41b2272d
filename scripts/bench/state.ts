import { cpuOfTree } from "./processes.ts";
import { median } from "./statistics.ts";
import { type Bench, withServer } from "./with-server.ts";

const ROUNDS = 60;
const CHAIN_DEPTHS = [1, 2, 10, 50, 100, 200];
const CHAIN_RATIO_MAX = 1.5;
const CONVERSATION_ITEMS = 5000;
const ITEMS_PER_CALL = 20;
const CPU_SAMPLES = 5;
const TURNS_PER_SAMPLE = 20;
const REPLAY_EVENTS = 5000;
const REPLAY_ROUNDS = 25;
const REPLAY_RATIO_MIN = 3;
const TOKENS_OF_SHORT_ANSWERS = 2;

/**
 * Measures the cost of history: chains of several lengths, long conversations, long replays; and of queueing a
 * response.
 */
export async function measureState(): Promise<void> {
  await withServer({ tokens: TOKENS_OF_SHORT_ANSWERS }, async (bench) => {
    await measureChains(bench);
    await measureConversation(bench);
    await measureBackground(bench);
  });
  await withServer({ tokens: REPLAY_EVENTS }, measureReplay);
}

async function measureChains(bench: Bench): Promise<void> {
  const chain: string[] = [];
  for (let depth = 0; depth < Math.max(...CHAIN_DEPTHS); depth++) {
    const previous = chain.at(-1) ?? null;
    chain.push(idOf(await bench.create({ previous_response_id: previous, input: `Turn ${depth}` })));
  }
  console.log("\na turn at the end of a chain, not streamed");
  const medians = new Map<number, number>();
  for (const [depth, { through, direct }] of await timeChains(bench, chain)) {
    medians.set(depth, through);
    console.log(
      `  depth ${depth}: ${through.toFixed(2)} ms through, ${direct.toFixed(2)} ms direct with as many messages`,
    );
  }
  const ratio = (medians.get(200) ?? 0) / (medians.get(2) ?? 1);
  console.log(`  depth 200 costs ${ratio.toFixed(2)} times depth 2 (target at most ${CHAIN_RATIO_MAX})`);
}

/** Alternates between depths and between both ways, so that noise affects all of them equally. */
async function timeChains(bench: Bench, chain: readonly string[]) {
  const times = new Map(CHAIN_DEPTHS.map((depth) => [depth, { through: [0], direct: [0] }]));
  for (const sample of times.values()) sample.through.length = sample.direct.length = 0;
  for (let round = 0; round < ROUNDS; round++) {
    for (const [depth, { through, direct }] of times) {
      through.push(await timed(() => bench.create({ previous_response_id: chain[depth - 1] })));
      direct.push(await timed(() => bench.askDirectly(messages(2 * depth + 1))));
    }
  }
  return [...times].map(
    ([depth, { through, direct }]) => [depth, { through: median(through), direct: median(direct) }] as const,
  );
}

async function measureConversation(bench: Bench): Promise<void> {
  let conversation = "";
  const filling = await timed(async () => (conversation = await longConversation(bench)));
  const turns: number[] = [];
  const direct: number[] = [];
  const pages: number[] = [];
  for (let round = 0; round < ROUNDS / 3; round++) {
    turns.push(await timed(() => bench.create({ conversation })));
    direct.push(await timed(() => bench.askDirectly(messages(CONVERSATION_ITEMS))));
    pages.push(await timed(() => bench.get(`/conversations/${conversation}/items?limit=100`)));
  }
  const cpu = await cpuOfTurn(bench, conversation);
  console.log(`\na conversation of ${CONVERSATION_ITEMS} items`);
  console.log(
    `  filled in calls of ${ITEMS_PER_CALL}: ${(filling / (CONVERSATION_ITEMS / ITEMS_PER_CALL)).toFixed(2)} ms a call; ` +
      `a page of 100: ${median(pages).toFixed(2)} ms; a turn: ${median(turns).toFixed(1)} ms through, ${median(direct).toFixed(1)} ms direct; ` +
      `the server's CPU for a turn: ${cpu.toFixed(1)} ms`,
  );
}

/** The CPU time of the server for a turn, in milliseconds: the median of several samples of many turns. */
async function cpuOfTurn(bench: Bench, conversation: string): Promise<number> {
  const samples: number[] = [];
  for (let sample = 0; sample < CPU_SAMPLES; sample++) {
    const before = cpuOfTree(bench.server.pid);
    for (let turn = 0; turn < TURNS_PER_SAMPLE; turn++) await bench.create({ conversation });
    samples.push((cpuOfTree(bench.server.pid) - before) / TURNS_PER_SAMPLE);
  }
  return median(samples);
}

/** Makes a conversation of `CONVERSATION_ITEMS` messages; resolves to its id. */
export async function longConversation(bench: Bench): Promise<string> {
  const conversation = idOf(await bench.post("/conversations", {}));
  for (let first = 0; first < CONVERSATION_ITEMS; first += ITEMS_PER_CALL) {
    const items = messages(ITEMS_PER_CALL).map((message) => ({ type: "message", ...message }));
    await bench.post(`/conversations/${conversation}/items`, { items });
  }
  return conversation;
}

async function measureBackground(bench: Bench): Promise<void> {
  const queued: number[] = [];
  const direct: number[] = [];
  for (let round = 0; round < ROUNDS * 3; round++) {
    queued.push(await timed(() => bench.create({ background: true })));
    direct.push(await timed(() => bench.askDirectly(messages(1))));
  }
  console.log("\na background response");
  console.log(
    `  queued in ${median(queued).toFixed(2)} ms; the upstream alone answers in ${median(direct).toFixed(2)} ms`,
  );
}

async function measureReplay(bench: Bench): Promise<void> {
  const live: number[] = [];
  const replayed: number[] = [];
  const direct: number[] = [];
  for (let round = 0; round < REPLAY_ROUNDS; round++) {
    direct.push(await timed(() => bench.askDirectly(messages(1))));
    let said = "";
    live.push(await timed(async () => (said = await streamInBackground(bench))));
    const id = /"id":"(resp_[0-9a-f]+)"/.exec(said)?.[1];
    let again = "";
    replayed.push(await timed(async () => (again = await bench.get(`/responses/${id}/events?dialect=reference`))));
    if (again !== said) throw new Error("a replay differs from what was streamed");
  }
  const ratio = median(live) / median(replayed);
  console.log(`\na replay of ${REPLAY_EVENTS} events`);
  console.log(
    `  streamed live in ${median(live).toFixed(0)} ms (the upstream alone: ${median(direct).toFixed(0)} ms), replayed in ${median(replayed).toFixed(0)} ms: ${ratio.toFixed(1)} times as fast (target at least ${REPLAY_RATIO_MIN})`,
  );
}

/** Streams a background response: its events are never padded, so they can be compared. */
async function streamInBackground(bench: Bench): Promise<string> {
  const said = await bench.stream({ background: true });
  if (!said.includes("event: response.completed\n")) throw new Error("a response was not completed");
  return said;
}

function messages(count: number): readonly { readonly role: string; readonly content: string }[] {
  return Array.from({ length: count }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: `Turn ${index}`,
  }));
}

function idOf(body: Readonly<Record<string, unknown>>): string {
  return String(body["id"]);
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await act();
  return performance.now() - started;
}
