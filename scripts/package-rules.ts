import { folder, type ImportRule, never, product } from "./import-rule.ts";

export const GENERATED_A = "generated/responses-api/";
/** What is stored and said to models, and the ports to it, by subject. */
export const DOMAIN = "packages/domain/src/";
/** What a model is asked, says and fails with, and whom it serves. */
export const MODELS = `${DOMAIN}(models/|owner[.]ts$)`;
export const SPEECH = "packages/speech/src";
export const TOKENIZERS = "packages/tokenizers/src/";
export const PROGRAMS = "packages/programs/src/";
export const EGRESS = "packages/egress/src/";
export const MEDIA = "packages/media/src/";
const GENERATED_B = "generated/local-stt/";

/** What each folder of packages/ may import. */
export const PACKAGE_RULES: readonly ImportRule[] = [
  never(
    "packages-know-no-server",
    "packages/ are parts that another program could be built of: they never import src/.",
    /^packages\//,
    /^src\//,
  ),
  {
    name: "packages-declare-what-they-import",
    sentence: "A manifest in packages/ names what its files import.",
    kind: "declares-what-it-imports",
  },
  folder("base-is-a-leaf", "base knows nothing above it.", "packages/base/src", []),
  folder("http-kit-knows-no-product", "http-kit mounts any contract and names none.", "packages/http-kit/src", []),
  folder("programs-is-a-leaf", "programs/ runs other programs and knows not what for.", "packages/programs/src", []),
  folder(
    "tokenizers-are-a-leaf",
    "tokenizers/ counts texts and pictures and knows not what for.",
    "packages/tokenizers/src",
    [],
  ),
  folder(
    "stream-grammar-is-a-leaf",
    "stream-grammar/ judges what was sent, and not by how it is made.",
    "packages/stream-grammar/src",
    [],
  ),
  folder("egress-is-a-leaf", "egress/ guards calls and knows not what for.", "packages/egress/src", []),
  folder("domain-names-what-is-stored", "domain/ has types and ports, and does nothing.", "packages/domain/src", [
    GENERATED_A,
  ]),
  folder("built-in-model-implements-its-port", "built-in-model sees only its port.", "packages/built-in-model/src", [
    MODELS,
    GENERATED_A,
  ]),
  folder("sandbox-sees-ports", "sandbox runs code in sandboxes, by ports.", "packages/sandbox/src", [
    PROGRAMS,
    DOMAIN,
    GENERATED_A,
  ]),
  folder(
    "media-implements-ports",
    "media/ sees its port, what a model takes, and what it is made with.",
    "packages/media/src",
    [`${SPEECH}/audio/`, EGRESS, `${SPEECH}/recognition/`, DOMAIN, GENERATED_A],
  ),
  folder("audio-is-a-leaf", "audio/ computes with samples and knows nobody.", "packages/speech/src/audio", []),
  folder(
    "audio-formats-see-sound",
    "audio-formats/ reads recordings and knows not what for.",
    "packages/speech/src/audio-formats",
    [`${SPEECH}/audio/`, PROGRAMS],
  ),
  folder(
    "speech-sees-sound",
    "speech/ turns sound into text and knows not what for.",
    "packages/speech/src/recognition",
    [`${SPEECH}/audio/`, `${SPEECH}/audio-formats/`, PROGRAMS],
  ),
  folder(
    "formatting-is-a-leaf",
    "formatting/ asks a provider and knows not what for.",
    "packages/speech/src/formatting",
    [],
  ),
  folder(
    "voices-implement-ports",
    "voices/ sees its port, what a model says, and audio/.",
    "packages/speech/src/voices",
    [`${SPEECH}/audio/`, PROGRAMS, DOMAIN, GENERATED_A],
  ),
  folder(
    "local-stt-through-front-doors",
    "local-stt/ never meets responses-api/ or Koa.",
    "packages/speech/src/local-stt",
    [`${SPEECH}/audio/`, `${SPEECH}/audio-formats/`, `${SPEECH}/formatting/`, `${SPEECH}/recognition/`, GENERATED_B],
  ),
  folder(
    "audio-api-through-front-doors",
    "audio-api/ is a door of both interfaces, and never meets responses-api/ or Koa.",
    "packages/speech/src/audio-api",
    [`${SPEECH}/audio/`, `${SPEECH}/audio-formats/`, `${SPEECH}/recognition/`, `${SPEECH}/voices/`, "generated/audio/"],
  ),
  folder(
    "realtime-stands-on-audio-api",
    "realtime/ is another door to the hearing of audio-api/, and never meets responses-api/ or Koa.",
    "packages/speech/src/realtime",
    [`${SPEECH}/audio/`, `${SPEECH}/audio-api/`, `${SPEECH}/local-stt/`, `${SPEECH}/recognition/`, "generated/audio/"],
  ),
  folder(
    "cloud-stt-stands-on-local-stt",
    "cloud-stt/ is another door to the streams of local-stt/.",
    "packages/speech/src/cloud-stt",
    [`${SPEECH}/audio/`, `${SPEECH}/local-stt/`, GENERATED_B],
  ),
  {
    name: "client-stands-alone",
    sentence: "client/ is published without the server, so it sees only the contracts.",
    kind: "may-import-only",
    from: product("packages/client/src/"),
    to: /^(packages\/client\/src|generated)\//,
  },
];
