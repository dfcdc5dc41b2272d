import type { Logger } from "../../base/logger.ts";
import type { Assets } from "../../transport/http/assets.ts";
import { builtPage } from "./built-page.ts";

const FOLDER = new URL("../../../dist/inspector/", import.meta.url);

/** The inspector, at `/inspector`. It speaks only to the server that sent it. */
export function inspectorPage(log: Logger, folder: URL = FOLDER): Assets {
  const page = {
    name: "the inspector",
    folder,
    paths: ["/inspector"],
    filesPath: "/inspector",
    files: ["inspector.css", "inspector.js", "microphone-worklet.js"],
    policy: ["media-src blob:", "connect-src 'self'"],
  };
  return builtPage(page, log);
}
