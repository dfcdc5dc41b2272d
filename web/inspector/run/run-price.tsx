import type { ReactNode } from "react";
import { useClient } from "../api/session.ts";
import { useCall } from "../api/use-call.ts";
import { formatPrice, UNKNOWN } from "../base/format.ts";

interface RunPriceProps {
  readonly id: string;
  /** Unix seconds. */
  readonly createdAt: number;
  readonly render: (price: string) => ReactNode;
}

/** Runs of one second that are looked through for this one. */
const NEIGHBOURS_MAX = 100;

/** What a run cost, as the list of runs says. */
export function RunPrice({ id, createdAt, render }: RunPriceProps) {
  const client = useClient();
  const { reply } = useCall(
    async (signal) => {
      const query = { created_after: createdAt, created_before: createdAt + 1, limit: NEIGHBOURS_MAX };
      const { data } = await client.listResponses(query, { signal });
      return data.find((summary) => summary.id === id)?.price ?? null;
    },
    [client, id, createdAt],
  );
  return render(reply === null ? UNKNOWN : formatPrice(reply.amount, reply.currency));
}
