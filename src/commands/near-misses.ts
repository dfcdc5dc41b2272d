import type { Logger } from "../base/logger.ts";
import { nearMisses } from "../config/environment/variable-names.ts";
import type { Environment } from "../config/load-config.ts";

/** Logs each variable that is probably a mistyped setting. Values, which may be secret, are not repeated. */
export function warnOfNearMisses(environment: Environment, log: Logger): void {
  for (const { variable, setting } of nearMisses(environment))
    log.warn({}, `${variable} is no setting and is not used. Did you mean ${setting}?`);
}
