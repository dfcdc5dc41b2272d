import { spawnSync } from "node:child_process";

/** Whether a program is on this machine. Tests that need a missing one are skipped. */
export function isInstalled(program: string, argument: string): boolean {
  return spawnSync(program, [argument], { stdio: "ignore" }).status === 0;
}

export const HAS_ESPEAK = isInstalled("espeak-ng", "--version");

/** The samples that espeak-ng makes of a text, at 22,050 Hz. */
export function espeakSamples(text: string, voice = "en"): number {
  const { stdout } = spawnSync("espeak-ng", ["--stdin", "--stdout", "-b", "1", "-v", voice], { input: text });
  return (stdout.length - 44) / 2;
}

/** What ffmpeg decodes from a recording: its samples at a rate, and the name of its format. */
export function decode(recording: Buffer, rateHz: number): { readonly pcm: Buffer; readonly format: string } {
  const { stdout, stderr } = spawnSync(
    "ffmpeg",
    ["-hide_banner", "-i", "pipe:0", "-f", "s16le", "-ar", String(rateHz), "-ac", "1", "pipe:1"],
    { input: recording, maxBuffer: 64 * 1024 * 1024 },
  );
  return {
    pcm: stdout,
    format: /Input #0, (\w+).*?Audio: (.+?)\n/s.exec(String(stderr))?.slice(1, 3).join(": ") ?? "",
  };
}
