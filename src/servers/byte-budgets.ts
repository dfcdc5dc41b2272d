import { ByteBudget } from "../base/limits/byte-budget.ts";
import type { Config } from "../config/load-config.ts";
import { UnreadBytes } from "../transport/stream/unread-bytes.ts";

/** What the interfaces of one process share of its memory. */
export interface ByteBudgets {
  /** Bodies and messages that are being read. */
  readonly incoming: ByteBudget;
  /** Replies that wait for slow readers. */
  readonly unread: UnreadBytes;
}

const budgets = new WeakMap<Config, ByteBudgets>();

/** The budgets of the process that this is the configuration of: the same for all of its interfaces. */
export function byteBudgetsOf(config: Config): ByteBudgets {
  const known = budgets.get(config) ?? {
    incoming: new ByteBudget(config.incomingBytesMax),
    unread: new UnreadBytes({ bytesMax: config.unreadBytesMax, patienceMs: config.unreadTimeoutMs }),
  };
  budgets.set(config, known);
  return known;
}
