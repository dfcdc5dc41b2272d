import { createHash } from "node:crypto";
import { jsonOrText } from "../../base/json/read-json.ts";
import type { HostedOutput } from "../../runs/hosted.ts";
import type { CallResult } from "./hosted-run.ts";
import { readFence } from "./results/fence.ts";

/** A call that was made so often without news, with the same arguments, ends its tool. */
const EQUAL_CALLS_MAX = 3;

/** What the model is told with the last of these results. */
const OVER = `You made this call ${EQUAL_CALLS_MAX} times, and its result stays the same. This tool cannot be called again. Answer with what you have.`;

export interface Called {
  readonly name: string;
  readonly server: string | null;
  /** JSON text. */
  readonly arguments: string;
}

interface Counted {
  /** How often the call has begun, and how often it brought the same result, since there was something new. */
  begun: number;
  equal: number;
  /** A digest of its latest result; null before the first. */
  digest: string | null;
  first: Promise<CallResult>;
}

/** Counts equal calls that bring nothing new, and ends their tools. A new result of any call begins the count anew. */
export class EqualCalls {
  readonly #counted = new Map<string, Counted>();
  readonly #over = new Set<string>();

  /** Why the tool cannot be called any more; null if it can. */
  refusal({ name, server }: Pick<Called, "name" | "server">): string | null {
    return this.#over.has(toolKey(name, server)) ? OVER : null;
  }

  /** Starts the call. If too many equal ones have begun already, the first of them takes its place. */
  take(
    call: Called,
    start: () => Promise<CallResult>,
  ): { readonly isNew: boolean; readonly result: Promise<CallResult> } {
    const counted = this.#counted.get(callKey(call));
    if (counted !== undefined && counted.begun >= EQUAL_CALLS_MAX) return { isNew: false, result: counted.first };
    const result = start();
    this.#begin(call, result);
    return { isNew: true, result };
  }

  /** The result of a call that has begun, with what the model is told if it was the last one. */
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
    const counted = this.#counted.get(key);
    if (counted === undefined) this.#counted.set(key, { begun: 1, equal: 0, digest: null, first });
    else counted.begun += 1;
  }

  #isLast(call: Called, { output }: HostedOutput): boolean {
    const counted = this.#counted.get(callKey(call));
    if (counted === undefined) return false;
    const digest = digestOf(output);
    if (counted.digest !== digest) this.#beginAnew(counted);
    counted.digest = digest;
    counted.equal += 1;
    return counted.equal >= EQUAL_CALLS_MAX;
  }

  /** The call has brought something new, after which every other call may bring something new, too. */
  #beginAnew(news: Counted): void {
    for (const counted of this.#counted.values()) {
      counted.equal = 0;
      if (counted !== news) counted.begun = 0;
    }
    if (news.digest !== null) news.begun = 1;
  }
}

function toolKey(name: string, server: string | null): string {
  return JSON.stringify([name, server]);
}

function callKey({ name, server, arguments: args }: Called): string {
  return JSON.stringify([name, server, jsonOrText(args)]);
}

/** Of what the tool returned, without the marks around it, which differ. */
function digestOf(output: string): string {
  return createHash("sha256")
    .update(readFence(output)?.text ?? output)
    .digest("base64");
}
