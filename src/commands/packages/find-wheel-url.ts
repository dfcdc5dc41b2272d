/** The index of packages does not name the file. The message is a sentence without a full stop, without a full URL. */
export class IndexFailed extends Error {
  override readonly name = "IndexFailed";
}

interface WantedWheel {
  /** In the form of PEP 503, such as `https://pypi.org/simple`. */
  readonly indexUrl: string;
  readonly project: string;
  readonly file: string;
}

const TIMEOUT_MS = 30_000;
const PAGE_CHARACTERS_MAX = 4 * 1024 * 1024;

/** Looks up where a package index keeps a file. Source: PEP 503. Rejects with `IndexFailed` or the signal's reason. */
export async function findWheelUrl({ indexUrl, project, file }: WantedWheel, signal: AbortSignal): Promise<string> {
  const page = new URL(`${indexUrl.replace(/\/+$/, "")}/${project}/`);
  const html = await readPage(page, signal);
  for (const [, link = ""] of html.matchAll(/href="([^"]+)"/g)) {
    const url = new URL(link.replaceAll("&amp;", "&"), page);
    url.hash = "";
    if (url.pathname.endsWith(`/${file}`) && /^https?:$/.test(url.protocol)) return url.href;
  }
  throw new IndexFailed(`${page.host} does not have ${file}`);
}

async function readPage(page: URL, signal: AbortSignal): Promise<string> {
  const either = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  try {
    const reply = await fetch(page, { headers: { accept: "text/html" }, signal: either });
    if (!reply.ok) throw new IndexFailed(`${page.host} answered with status ${reply.status}`);
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of reply.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > PAGE_CHARACTERS_MAX) throw new IndexFailed(`${page.host} sent too long a page`);
    }
    return text;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof IndexFailed) throw error;
    throw new IndexFailed(`${page.host} cannot be reached`, { cause: error });
  }
}
