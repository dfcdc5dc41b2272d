import { inheritedEnvironment } from "@antiphon/programs/inherited-environment.ts";
import type { Environment } from "../../config/load-config.ts";

/** Variables by which npm finds its registry, a proxy and certificates. */
const OF_NPM = /^(npm_config_.*|https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE)$/i;

/** The environment of npm: what programs get anyway, and what it needs to reach its registry. */
export function engineEnvironment(environment: Environment): Record<string, string> {
  const chosen = Object.entries(environment).filter((entry): entry is [string, string] => {
    return OF_NPM.test(entry[0]) && entry[1] !== undefined;
  });
  return { ...inheritedEnvironment(), ...Object.fromEntries(chosen) };
}
