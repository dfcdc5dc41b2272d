/** Where the chat's answers come from. */
export interface Server {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly model: string;
}

const KEY = "server";

/** Null if none was chosen in this tab. */
export function readServer(): Server | null {
  const text = sessionStorage.getItem(KEY);
  return text === null ? null : JSON.parse(text);
}

export function writeServer(server: Server): void {
  sessionStorage.setItem(KEY, JSON.stringify(server));
}
