import { expect, test } from "vitest";
import { startTestServer } from "../test-server.ts";
test("x", async () => {
  const server = await startTestServer();
  for (const format of ["pcm16","wav","mp3","opus"]) {
  const t=Date.now();
  const reply = await server.post("/v1/responses", { model: "antiphon-built-in", input: "Repeat: Hello there, my friend. How are you today? This is a longer sentence to speak.", stream: true, output_audio: {format} });
  const text = await reply.text();
  console.log(format, reply.status, Date.now()-t, text.length);
  const ev = text.split("\n").filter(l=>l.startsWith("data: {")).map(l=>JSON.parse(l.slice(6)));
  console.log(ev.map(e=>e.type.replace("response.","")+ (e.delta? ":"+String(e.delta).slice(0,30).length+"/"+e.delta.length:"")).join(" "));
  if (reply.status!==200) console.log(text);
  }
  await server.close();
});
