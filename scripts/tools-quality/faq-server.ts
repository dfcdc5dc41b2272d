import { setTimeout as sleep } from "node:timers/promises";

const LOOK_MS = 500;
const TOGETHER_MAX = 100;

/** A part of the text with this number. */
export interface FoundText {
  readonly number: number;
  readonly score: number;
}

/** A server as its clients see it. */
export class FaqServer {
  readonly #url: string;
  readonly #key: string;

  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  /** A store with a file for each text, named by its number, once all are ingested. */
  async fill(texts: readonly string[]): Promise<string> {
    const { id } = await this.#post<{ readonly id: string }>("/v1/vector_stores", { name: "FAQ" });
    const ids: string[] = [];
    for (const [index, text] of texts.entries()) ids.push(await this.#upload(`${index}.txt`, text));
    for (let start = 0; start < ids.length; start += TOGETHER_MAX)
      await this.#post(`/v1/vector_stores/${id}/file_batches`, { file_ids: ids.slice(start, start + TOGETHER_MAX) });
    for (;;) {
      const { file_counts: counts } = await this.#call<Store>(`/v1/vector_stores/${id}`);
      if (counts.failed > 0) throw new Error(`${counts.failed} files could not be ingested`);
      if (counts.in_progress === 0) return id;
      await sleep(LOOK_MS);
    }
  }

  /** What is found for each question, best first. */
  async search(storeId: string, questions: readonly string[]): Promise<readonly (readonly FoundText[])[]> {
    const found: (readonly FoundText[])[] = [];
    for (const query of questions) {
      const { data } = await this.#post<{ readonly data: readonly Found[] }>(`/v1/vector_stores/${storeId}/search`, {
        query,
        max_num_results: 20,
      });
      found.push(data.map(({ filename, score }) => ({ number: Number.parseInt(filename, 10), score })));
    }
    return found;
  }

  async #upload(filename: string, text: string): Promise<string> {
    const form = new FormData();
    form.append("purpose", "assistants");
    form.append("file", new Blob([text]), filename);
    return (await this.#call<{ readonly id: string }>("/v1/files", { method: "POST", body: form })).id;
  }

  async #post<Reply>(path: string, body: object): Promise<Reply> {
    const headers = { "content-type": "application/json" };
    return await this.#call(path, { method: "POST", headers, body: JSON.stringify(body) });
  }

  async #call<Reply>(path: string, init: RequestInit = {}): Promise<Reply> {
    const headers = new Headers(init.headers);
    headers.set("authorization", `Bearer ${this.#key}`);
    const response = await fetch(`${this.#url}${path}`, { ...init, headers });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    const reply: Reply = await response.json();
    return reply;
  }
}

interface Store {
  readonly file_counts: { readonly in_progress: number; readonly failed: number };
}

interface Found {
  readonly filename: string;
  readonly score: number;
}
