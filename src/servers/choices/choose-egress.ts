import type { Logger } from "@antiphon/base/logger.ts";
import { createEgress, type Egress, newLookupSlots } from "@antiphon/egress/egress.ts";
import { ConfigError } from "../../config/config-error.ts";
import type { Config } from "../../config/load-config.ts";

const CONNECT_TIMEOUT_MS = 10_000;
const IDLE_TIMEOUT_MS = 15_000;

/** The guards of one server. They share the slots for name lookups. */
export interface Guards {
  /** For URLs that clients choose. */
  readonly egress: Egress;
  /** For URLs that the operator chooses. Any address is allowed, but redirects are refused here too. */
  readonly operatorEgress: Egress;
}

/** Builds the guards from the settings. Throws `ConfigError` for invalid rules. */
export function chooseEgress(config: Config, log: Logger): Guards {
  const timeouts = { connectMs: CONNECT_TIMEOUT_MS, idleMs: IDLE_TIMEOUT_MS, totalMs: config.egressTimeoutMs };
  const common = { timeouts, log, lookups: newLookupSlots() };
  const policy = {
    mode: config.egress,
    allow: config.egressAllow,
    deny: config.egressDeny,
    ports: config.egressPorts.map(Number),
  };
  try {
    return {
      egress: createEgress({ ...common, policy }),
      operatorEgress: createEgress({ ...common, policy: ANYWHERE }),
    };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ConfigError([`EGRESS_ALLOW, EGRESS_DENY or EGRESS_PORTS is not right: ${error.message}.`]);
  }
}

const ANYWHERE = { mode: "public", allow: ["0.0.0.0/0", "::/0"], deny: [], ports: [] } as const;
