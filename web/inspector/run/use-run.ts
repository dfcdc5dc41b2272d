import { useEffect, useState } from "react";
import type { Response, StoredItem } from "../../../packages/client/src/index.ts";
import { readInputItems } from "../api/input-items.ts";
import { useClient } from "../api/session.ts";
import { type Call, sentenceOf, useCall } from "../api/use-call.ts";
import { EMPTY_LOG, followRun, type RunLog } from "./run-log.ts";

export interface Run {
  readonly response: Call<Response>;
  readonly input: Call<readonly StoredItem[]>;
  readonly log: RunLog;
}

/** A run with its input and events. It is read again when it ends. */
export function useRun(id: string): Run {
  const client = useClient();
  const [log, setLog] = useState<RunLog>(EMPTY_LOG);
  useEffect(() => {
    const controller = new AbortController();
    void followRun(client, id, { show: setLog, signal: controller.signal, fail: sentenceOf });
    return () => controller.abort();
  }, [client, id]);
  const response = useCall((signal) => client.getResponse(id, {}, { signal }), [client, id, log.isAttached]);
  const input = useCall((signal) => readInputItems(client, id, signal), [client, id]);
  return { response, input, log };
}
