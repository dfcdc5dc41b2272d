import type { Logger } from "@antiphon/base/logger.ts";
import type { Assets } from "@antiphon/http-kit/http/assets.ts";
import { ConfigError } from "../../config/config-error.ts";
import type { Config } from "../../config/load-config.ts";
import { builtPage } from "./built-page.ts";

const CHAT_LAB_FOLDER = new URL("../../../dist/chat-lab/", import.meta.url);
const INSPECTOR_FOLDER = new URL("../../../dist/inspector/", import.meta.url);
/** Placeholder in the page for the URL of this process's Responses API. */
const RESPONSES_API_MARK = "{{responses-api-url}}";
const USUAL_PORT = 8080;

type PageConfig = Pick<Config, "chatLabServers" | "port">;

/** The chat lab, at `/` and `/demo`. It may connect to this machine and to the listed servers. */
export function demoPage(config: PageConfig, log: Logger, folder: URL = CHAT_LAB_FOLDER): Assets {
  const servers = ["'self'", "http://127.0.0.1:*", "http://localhost:*", ...config.chatLabServers.map(originOf)];
  const page = {
    name: "the chat lab",
    folder,
    paths: ["/", "/demo"],
    filesPath: "/demo",
    files: ["chat-lab.css", "chat-lab.js", "microphone-worklet.js"],
    fill: (html: string) => html.replaceAll(RESPONSES_API_MARK, responsesApiUrl(config)),
    policy: [`connect-src ${servers.join(" ")}`],
  };
  return builtPage(page, log);
}

/** The inspector, at `/inspector`. It connects only to its own server. */
export function inspectorPage(log: Logger, folder: URL = INSPECTOR_FOLDER): Assets {
  const page = {
    name: "the inspector",
    folder,
    paths: ["/inspector"],
    filesPath: "/inspector",
    files: ["inspector.css", "inspector.js", "inter-latin.woff2", "microphone-worklet.js"],
    policy: ["font-src 'self'", "media-src blob:", "connect-src 'self'"],
  };
  return builtPage(page, log);
}

/** The base URL of the Responses API of this process. */
export function responsesApiUrl({ port }: Pick<Config, "port">): string {
  return `http://127.0.0.1:${port === 0 ? USUAL_PORT : port}/v1`;
}

/** Reduces the entry to one origin, so that it cannot inject sources into the policy. */
function originOf(server: string): string {
  const origin = URL.canParse(server) ? new URL(server).origin : "";
  if (!/^https?:\/\/[\w.*:[\]-]+$/.test(origin))
    throw new ConfigError([`CHAT_LAB_SERVERS has '${server}', which is no http or https URL.`]);
  return origin;
}
