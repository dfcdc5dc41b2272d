// Prints the words of a recording, as the speech-to-text server of this machine hears them. STT_URL names another one.
import { readFile } from "node:fs/promises";

const file = process.argv[2] ?? "assets/turn-on-the-light.wav";
const form = new FormData();
form.set("audio", new Blob([new Uint8Array(await readFile(file))]), "recording");

const url = process.env["STT_URL"] ?? "http://127.0.0.1:8237";
const reply = await fetch(`${url}/transcribe`, { method: "POST", body: form });
const heard: { text?: string } = await reply.json();
if (!reply.ok) throw new Error(`The server answered ${reply.status}: ${JSON.stringify(heard)}`);
console.log(heard.text);
