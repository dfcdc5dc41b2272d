import type { Logger } from "@antiphon/base/logger.ts";
import { nearMisses } from "../config/environment/variable-names.ts";
import type { Environment } from "../config/load-config.ts";

/** Logs each variable that looks like a mistyped setting. Does not repeat values, which may be secret. */
export function warnOfNearMisses(environment: Environment, log: Logger): void {
  for (const { variable, setting } of nearMisses(environment))
    log.warn({}, `ignoring ${variable}: it is not a setting. Did you mean ${setting}?`);
}
