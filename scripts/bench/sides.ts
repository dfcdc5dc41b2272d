import type { Job } from "./load-job.ts";
import type { Server, Upstream } from "./servers.ts";
import { modelName, type UpstreamShape } from "./upstream-shape.ts";

/** What is measured: a server, with or without storage, or the upstream alone. */
export interface Side {
  /** The process that is measured. */
  readonly pid: number;
  job(asked: Asked): Job;
}

export interface Asked extends Partial<Pick<Job, "atText" | "isDated" | "secondsMax">> {
  readonly shape: Partial<UpstreamShape>;
  readonly count: number;
  readonly atOnce: number;
  /** Default: streamed. The upstream always streams. */
  readonly isStreamed?: boolean;
}

const HOUR_S = 3600;

/** What a job says unless it is asked otherwise. */
const USUAL = { atText: "read", isDated: false, secondsMax: HOUR_S } as const;

export function serverSide({ port, pid, headers }: Server, { stores }: { readonly stores: boolean }): Side {
  return {
    pid,
    job: ({ shape, isStreamed = true, ...load }) => ({
      port,
      headers,
      path: "/v1/responses",
      body: JSON.stringify({ model: modelName(shape), input: "Hi", stream: isStreamed, store: stores }),
      endMark: isStreamed ? "event: response.completed\n" : '"completed"',
      textMark: "event: response.output_text.delta\n",
      ...USUAL,
      ...load,
    }),
  };
}

export function upstreamSide({ port, pid }: Upstream): Side {
  return {
    pid,
    job: ({ shape, isStreamed: _isStreamed, ...load }) => ({
      port,
      headers: { "content-type": "application/json" },
      path: "/v1/chat/completions",
      body: JSON.stringify({ model: modelName(shape), stream: true, messages: [] }),
      endMark: "data: [DONE]\n",
      textMark: '"content":" ',
      ...USUAL,
      ...load,
    }),
  };
}
