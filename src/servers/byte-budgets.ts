import { ByteBudget } from "@antiphon/base/limits/byte-budget.ts";
import { UnreadBytes } from "@antiphon/http-kit/exchange/unread-bytes.ts";
import type { Config } from "../config/load-config.ts";

/** Memory budgets that all interfaces of the process share. */
export interface ByteBudgets {
  /** Bytes of bodies and messages that are being read. */
  readonly incoming: ByteBudget;
  /** Bytes of replies that clients have not read yet. */
  readonly unread: UnreadBytes;
}

const budgets = new WeakMap<Config, ByteBudgets>();

/** The budgets of the process with this configuration. All of its interfaces get the same objects. */
export function byteBudgetsOf(config: Config): ByteBudgets {
  const byteBudgets = budgets.get(config) ?? {
    incoming: new ByteBudget(config.incomingBytesMax),
    unread: new UnreadBytes({ bytesMax: config.unreadBytesMax, idleTimeoutMs: config.unreadTimeoutMs }),
  };
  budgets.set(config, byteBudgets);
  return byteBudgets;
}
