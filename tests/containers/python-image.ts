import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isRecord } from "@antiphon/base/json/records.ts";

const IMAGE = "localhost/antiphon-test-python:latest";
const PODMAN = fileURLToPath(new URL("podman-without-hybrid-groups.sh", import.meta.url));
const BUILD = fileURLToPath(new URL("build-python-image.sh", import.meta.url));
const BUILD_MS_MAX = 120_000;

export type PythonImage =
  | { readonly type: "built"; readonly program: string; readonly image: string }
  | { readonly type: "fails"; readonly why: string };

/** An image of this machine's own Python. It stays for the next run of the tests. */
export function buildPythonImage(): PythonImage {
  if (!existsSync("/usr/bin/podman")) return { type: "fails", why: "podman is not installed" };
  if (!existsSync("/usr/bin/python3")) return { type: "fails", why: "Python is not installed" };
  try {
    execFileSync("/bin/sh", [BUILD, PODMAN, IMAGE], { stdio: "pipe", timeout: BUILD_MS_MAX });
    return { type: "built", program: PODMAN, image: IMAGE };
  } catch (error) {
    const complaint = isRecord(error) ? String(error["stderr"]).trim() : "for an unknown reason";
    return { type: "fails", why: `no image could be built: ${complaint}` };
  }
}
