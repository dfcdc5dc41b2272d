import type { Asset, Assets } from "../transport/assets.ts";

const FOLDER = new URL("../../web/chat-lab/", import.meta.url);

/** The page may use this server and nothing else, and no other page may show it. */
const HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/** The chat lab, at `/` and `/demo`. */
export function demoPage(): Assets {
  const page = asset("index.html", "text/html; charset=utf-8");
  const scripts = ["chat-lab", "chat", "microphone", "microphone-worklet", "server", "speech-stream", "status"];
  return {
    "/": page,
    "/demo": page,
    "/demo/chat-lab.css": asset("chat-lab.css", "text/css; charset=utf-8"),
    ...Object.fromEntries(
      scripts.map((name) => [`/demo/${name}.js`, asset(`${name}.js`, "text/javascript; charset=utf-8")]),
    ),
  };
}

function asset(name: string, contentType: string): Asset {
  return { contentType, headers: HEADERS, file: new URL(name, FOLDER) };
}
