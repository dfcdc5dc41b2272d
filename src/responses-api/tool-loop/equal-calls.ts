import { createHash } from "node:crypto";
import { jsonOrText } from "@antiphon/base/json/read-json.ts";
import type { HostedOutput } from "@antiphon/domain/models/hosted.ts";
import type { CallResult } from "./hosted-run.ts";
import { readFence } from "./results/fence.ts";

/** A tool ends after this many equal calls without a new result. */
const EQUAL_CALLS_MAX = 3;

/** Added for the model to the last of these results. */
const OVER = `You made this call ${EQUAL_CALLS_MAX} times, and its result stays the same. This tool cannot be called again. Answer with what you have.`;

export interface Called {
  readonly name: string;
  readonly server: string | null;
  /** JSON text. */
  readonly arguments: string;
}

interface Counted {
  /** How often the call has begun, and how often it had the same result, since the last new result. */
  beginCount: number;
  equal: number;
  /** A digest of its latest result; null before the first. */
  digest: string | null;
  first: Promise<CallResult>;
}

/** Counts equal calls without a new result, and ends their tools. A new result of any call restarts the count. */
export class EqualCalls {
  readonly #counts = new Map<string, Counted>();
  readonly #over = new Set<string>();

  /** Why the tool cannot be called any more; null if it can. */
  refusal({ name, server }: Pick<Called, "name" | "server">): string | null {
    return this.#over.has(toolKey(name, server)) ? OVER : null;
  }

  /** Starts the call. If too many equal ones have already begun, the result of the first of them is used. */
  take(
    call: Called,
    start: () => Promise<CallResult>,
  ): { readonly isNew: boolean; readonly result: Promise<CallResult> } {
    const count = this.#counts.get(callKey(call));
    if (count !== undefined && count.beginCount >= EQUAL_CALLS_MAX) return { isNew: false, result: count.first };
    const result = start();
    this.#begin(call, result);
    return { isNew: true, result };
  }

  /** The result of a call, with a remark for the model if it was the last one. */
  end(call: Called, result: CallResult): CallResult {
    const { output } = result;
    if (output === null || !this.#isLast(call, output)) return result;
    this.#over.add(toolKey(call.name, call.server));
    return { ...result, output: { ...output, output: `${output.output}\n${OVER}` } };
  }

  /** Counts a call that ran before a crash. */
  learn(call: Called, output: HostedOutput): void {
    const result = { output, asks: false, item: null };
    this.#begin(call, Promise.resolve(result));
    this.end(call, result);
  }

  #begin(call: Called, first: Promise<CallResult>): void {
    const key = callKey(call);
    const count = this.#counts.get(key);
    if (count === undefined) this.#counts.set(key, { beginCount: 1, equal: 0, digest: null, first });
    else count.beginCount += 1;
  }

  #isLast(call: Called, { output }: HostedOutput): boolean {
    const count = this.#counts.get(callKey(call));
    if (count === undefined) return false;
    const digest = digestOf(output);
    if (count.digest !== digest) this.#beginAnew(count);
    count.digest = digest;
    count.equal += 1;
    return count.equal >= EQUAL_CALLS_MAX;
  }

  /** The call had a new result, so every other call may have one, too. */
  #beginAnew(news: Counted): void {
    for (const count of this.#counts.values()) {
      count.equal = 0;
      if (count !== news) count.beginCount = 0;
    }
    if (news.digest !== null) news.beginCount = 1;
  }
}

function toolKey(name: string, server: string | null): string {
  return JSON.stringify([name, server]);
}

function callKey({ name, server, arguments: args }: Called): string {
  return JSON.stringify([name, server, jsonOrText(args)]);
}

/** A digest of the tool's output, without its random marks. */
function digestOf(output: string): string {
  return createHash("sha256")
    .update(readFence(output)?.text ?? output)
    .digest("base64");
}
