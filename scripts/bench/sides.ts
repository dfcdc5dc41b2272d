import type { Job } from "./load-job.ts";
import type { Server, Upstream } from "./servers.ts";
import { modelName, type UpstreamShape } from "./upstream-shape.ts";

/** What is measured: a server, with or without storage, or the upstream alone. */
export interface Side {
  /** The process that is measured. */
  readonly pid: number;
  job(asked: Asked): Job;
}

export interface Asked extends Partial<Pick<Job, "atText" | "isDated">> {
  readonly shape: Partial<UpstreamShape>;
  readonly count: number;
  readonly atOnce: number;
  /** Default: streamed. The upstream always streams. */
  readonly isStreamed?: boolean;
}

export function serverSide({ port, pid, headers }: Server, { stores }: { readonly stores: boolean }): Side {
  return {
    pid,
    job: ({ shape, count, atOnce, atText = "read", isDated = false, isStreamed = true }) => ({
      port,
      headers,
      path: "/v1/responses",
      body: JSON.stringify({ model: modelName(shape), input: "Hi", stream: isStreamed, store: stores }),
      endMark: isStreamed ? "event: response.completed\n" : '"completed"',
      textMark: "event: response.output_text.delta\n",
      count,
      atOnce,
      atText,
      isDated,
    }),
  };
}

export function upstreamSide({ port, pid }: Upstream): Side {
  return {
    pid,
    job: ({ shape, count, atOnce, atText = "read", isDated = false }) => ({
      port,
      headers: { "content-type": "application/json" },
      path: "/v1/chat/completions",
      body: JSON.stringify({ model: modelName(shape), stream: true, messages: [] }),
      endMark: "data: [DONE]\n",
      textMark: '"content":" ',
      count,
      atOnce,
      atText,
      isDated,
    }),
  };
}
