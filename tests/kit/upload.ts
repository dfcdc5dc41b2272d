/** A form with one part of each name. */
export function formOf(parts: Readonly<Record<string, string | Blob>>): FormData {
  const form = new FormData();
  for (const [name, part] of Object.entries(parts)) form.append(name, part);
  return form;
}

/** A file of these bytes, for a form. Its type is left to its name. */
export function namedFile(content: string | Uint8Array, name: string): File {
  return new File([typeof content === "string" ? content : Uint8Array.from(content)], name);
}

interface Called {
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

/** Uploads a file to a server. */
export function uploadFile(server: Called, file: Blob, purpose = "user_data"): Promise<Response> {
  return server.fetch("/v1/files", { method: "POST", body: formOf({ purpose, file }) });
}

/** Uploads a recording to an operation of a speech server. */
export function postAudio(url: string, audio: Uint8Array, name = "recording.wav"): Promise<Response> {
  return fetch(url, { method: "POST", body: formOf({ audio: namedFile(audio, name) }) });
}
