import { createContext, useContext, useMemo, useState } from "react";
import type { Antiphon, ResponsesApi } from "../../../packages/client/src/index.ts";
import { useCall } from "../api/use-call.ts";
import { textAt } from "../base/members.ts";
import type { ShownItem } from "./fold-events.ts";

export type Effect = ResponsesApi.ResponseEffect;
export type SettledState = ResponsesApi.SettleEffectRequest["state"];

const PAGE_EFFECTS = 100;

/** The calls in the ledger of a run. */
export interface Effects {
  /** By the ids of their items. */
  readonly byItem: ReadonlyMap<string, Effect>;
  /** Records what a person has found out. Rejects with the error of the server. */
  readonly settle: (effect: Effect, state: SettledState) => Promise<void>;
}

const EffectsContext = createContext<Effects>({ byItem: new Map(), settle: async () => {} });
export const EffectsProvider = EffectsContext.Provider;

/** The entry of a call in the ledger, and what settles it; null if it can change nothing, or is not known. */
export function useEffectOf(item: ShownItem): { readonly effect: Effect; readonly settle: Effects["settle"] } | null {
  const { byItem, settle } = useContext(EffectsContext);
  const effect = byItem.get(textAt(item, "id"));
  return effect === undefined || effect.key === null ? null : { effect, settle };
}

interface Calls {
  readonly output: readonly ShownItem[];
  /** Whether more calls may come. */
  readonly isLive: boolean;
}

/** Reads the ledger of a run with calls of MCP servers; of a run that goes on, again with each call and at its end. */
export function useEffects(client: Antiphon, id: string, { output, isLive }: Calls): Effects {
  const [changes, setChanges] = useState(0);
  const calls = output.filter(({ type }) => type === "mcp_call").length;
  const { reply } = useCall(
    async (signal) => (calls === 0 ? [] : await readEffects(client, id, signal)),
    [client, id, calls, isLive, changes],
  );
  return useMemo(
    () => ({
      byItem: new Map((reply ?? []).map((effect) => [effect.id, effect])),
      settle: async (effect, state) => {
        await client.settleResponseEffect(id, effect.id, { state });
        setChanges((count) => count + 1);
      },
    }),
    [reply, client, id],
  );
}

async function readEffects(client: Antiphon, id: string, signal: AbortSignal): Promise<readonly Effect[]> {
  const effects: Effect[] = [];
  for (;;) {
    const last = effects.at(-1)?.id;
    const query = { order: "asc", limit: PAGE_EFFECTS, ...(last === undefined ? {} : { after: last }) } as const;
    const page = await client.listResponseEffects(id, query, { signal });
    effects.push(...page.data);
    if (!page.has_more) return effects;
  }
}
