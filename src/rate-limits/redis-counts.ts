import { createHash } from "node:crypto";
import { createClient } from "@redis/client";
import { answerWithin, NoAnswer } from "./answer-within.ts";
import type { CommonCounts, Count, CountChange } from "./ports.ts";

const CONNECT_MS_MAX = 2000;
/** Until a command is sent, and until it is answered. By default, the client waits forever for a reply. */
const SEND_MS_MAX = 300;
const ANSWER_MS_MAX = 1000;
const RECONNECT_MS_MAX = 2000;
const FIRST_RECONNECT_MS = 50;
const KEY_PREFIX = "antiphon:rate:";
/** After this many consecutive commands without a reply, the connection is reopened. */
const UNANSWERED_MAX = 3;

/**
 * Arguments per key: kind, amount, limit, milliseconds of a period and of a refusal, and the maximum rest of the period
 * for a refund. Returns per key: whether it was taken, the usage, and the milliseconds left.
 */
const CHANGE = `
local counts = {}
for index, key in ipairs(KEYS) do
  local at = (index - 1) * 6
  local kind = ARGV[at + 1]
  local amount, limit, period = tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4])
  local refusal, leftMax = tonumber(ARGV[at + 5]), tonumber(ARGV[at + 6])
  local used, left, taken = tonumber(redis.call('get', key) or '0'), redis.call('pttl', key), 1
  if left <= 0 then used = 0; left = 0 end
  if kind == 'take' and used + amount > limit then
    taken = 0
    if refusal > 0 and amount > 0 and used <= limit then
      used = limit + 1; left = refusal
      redis.call('set', key, string.format('%.0f', used), 'px', left)
    end
  elseif amount > 0 then
    used = used + amount
    if left == 0 then left = period end
    redis.call('set', key, string.format('%.0f', used), 'px', left)
  elseif amount < 0 and left > 0 and left <= leftMax then
    used = math.max(0, used + amount)
    redis.call('set', key, string.format('%.0f', used), 'px', left)
  end
  counts[index] = { taken, used, left }
end
return counts`;
const CHANGE_HASH = createHash("sha1").update(CHANGE).digest("hex");

/** Counters in Redis or Valkey. Each call is one command, and ends soon even if the server does not respond. */
export class RedisCounts implements CommonCounts {
  readonly #url: string;
  readonly #findNamespace: () => Promise<string>;
  #keyPrefix: Promise<string> | null = null;
  #client: ReturnType<typeof connect>;
  #questionCount = 0;

  /** `findNamespace` distinguishes the counters of databases that share a Redis. */
  constructor(url: string, findNamespace: () => Promise<string>) {
    this.#url = url;
    this.#findNamespace = findNamespace;
    this.#client = connect(url);
  }

  async change(changes: readonly CountChange[]): Promise<readonly Count[]> {
    try {
      const reply = await answerWithin(ANSWER_MS_MAX, run(this.#client, await this.#prefix(), changes));
      const counts = readCounts(reply, changes.length);
      this.#questionCount = 0;
      return counts;
    } catch (error) {
      if (error instanceof NoAnswer) this.#noteUnanswered();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#client.destroy();
  }

  #prefix(): Promise<string> {
    this.#keyPrefix ??= this.#findNamespace().then(
      (namespace) => `${KEY_PREFIX}${namespace}:`,
      (error: unknown) => {
        this.#keyPrefix = null; // The next change retries.
        throw error;
      },
    );
    return this.#keyPrefix;
  }

  /** The other end may be gone silently. */
  #noteUnanswered(): void {
    this.#questionCount += 1;
    if (this.#questionCount < UNANSWERED_MAX) return;
    this.#questionCount = 0;
    this.#client.destroy();
    this.#client = connect(this.#url);
  }
}

function connect(url: string) {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    commandOptions: { timeout: SEND_MS_MAX },
    socket: {
      connectTimeout: CONNECT_MS_MAX,
      reconnectStrategy: (retries) =>
        Math.min(RECONNECT_MS_MAX, FIRST_RECONNECT_MS * 2 ** retries) * (1 + Math.random()),
    },
  });
  client.on("error", () => {}); // Each failing command reports its own error.
  void client.connect().catch(() => {});
  return client;
}

/** Sends the hash of the script, or the whole script if the server does not have it. */
async function run(
  client: ReturnType<typeof connect>,
  keyPrefix: string,
  changes: readonly CountChange[],
): Promise<unknown> {
  const call = {
    keys: changes.map(({ name }) => keyPrefix + name),
    arguments: changes.flatMap(({ kind, amount, limit, periodMs, refusalMs, leftMsMax }) => [
      kind,
      ...[amount, limit, periodMs, refusalMs, Math.ceil(leftMsMax)].map(String),
    ]),
  };
  try {
    return await client.evalSha(CHANGE_HASH, call);
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) throw error;
    return await client.eval(CHANGE, call);
  }
}

function readCounts(reply: unknown, count: number): readonly Count[] {
  if (!Array.isArray(reply) || reply.length !== count)
    throw new Error("Redis replied with another number of counts than requested");
  return reply.map((fields: unknown) => {
    const [takenFlag, usedAmount, leftMs] = Array.isArray(fields) ? fields.map(Number) : [];
    if (takenFlag === undefined || usedAmount === undefined || leftMs === undefined)
      throw new Error("Redis replied without a count");
    return { taken: takenFlag === 1, used: usedAmount, leftMs };
  });
}
