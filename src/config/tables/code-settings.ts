import type { Setting } from "../setting.ts";

const MEBIBYTE = 1024 * 1024;
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;

/** The sandbox for code, its limits, and the limits of containers. */
export const CODE_SETTINGS = {
  codeEngine: {
    name: "CODE_ENGINE",
    section: "Tools",
    kind: "choice",
    default: "auto",
    choices: ["auto", "pyodide", "bubblewrap", "docker", "off"],
    text: "Which sandbox runs the code of the tools code_interpreter and shell. auto: bubblewrap with the Python of this machine if that works, otherwise pyodide, a Python that is part of Antiphon. Where bubblewrap cannot confine pyodide, auto uses pyodide only if HOST is a loopback address. docker is used only if set. off runs no code.",
  },
  codeTimeoutMs: {
    name: "CODE_TIMEOUT_MS",
    section: "Tools",
    kind: "duration",
    default: MINUTE,
    min: 100,
    max: 60 * MINUTE,
    text: "How long one run of code, or one shell command, may take. After that, its session is ended: files remain, variables are lost.",
  },
  codeMemoryMax: {
    name: "CODE_MEMORY_MAX",
    section: "Tools",
    kind: "integer",
    default: 1024 * MEBIBYTE,
    min: 64 * MEBIBYTE,
    max: 1024 * 1024 * MEBIBYTE,
    text: "Most memory of one session, in bytes, all its processes together. A container may name a memory_limit within it, such as 4g from 4294967296 on; without one its sessions may use all.",
  },
  codeSessionsMax: {
    name: "CODE_SESSIONS_MAX",
    section: "Tools",
    kind: "integer",
    default: 8,
    min: 1,
    max: 1000,
    text: "Most sessions that run code at the same time. If another is needed, the session that was idle longest is ended: files remain, variables are lost.",
  },
  codePackagesDir: {
    name: "CODE_PACKAGES_DIR",
    section: "Tools",
    kind: "path",
    default: null,
    defaultText: "those of antiphon code setup --pyodide",
    text: "Folder of Python packages (wheels) for pyodide. docs/tools.md describes how to fill it.",
  },
  codePython: {
    name: "CODE_PYTHON",
    section: "Tools",
    kind: "path",
    default: null,
    defaultText: "that of antiphon code setup, or else /usr/bin/python3 or /usr/local/bin/python3",
    text: "The Python that runs code in bubblewrap, also that of a virtual environment, in any folder. Code sees the bin and lib of that folder, and the whole of it below /usr/local or /opt. If the server runs as root, all users must be able to enter the folder. If this Python does not run, no other one is taken.",
  },
  codeImage: {
    name: "CODE_IMAGE",
    section: "Tools",
    kind: "string",
    default: null,
    text: "Image with Python 3 in which docker or podman runs code. Used if CODE_ENGINE is docker, and never pulled.",
  },
  containerBytesMax: {
    name: "CONTAINER_BYTES_MAX",
    section: "Tools",
    kind: "integer",
    default: 500_000_000,
    min: MEBIBYTE,
    max: 1024 * 1024 * MEBIBYTE,
    text: "Most bytes of the files of one container.",
  },
  ownerContainersMax: {
    name: "OWNER_CONTAINERS_MAX",
    section: "Tools",
    kind: "integer",
    default: 100,
    min: 0,
    max: 1_000_000,
    text: "Most containers of one project at the same time, not counting expired ones. 0 sets no limit.",
  },
  ownerContainerBytesMax: {
    name: "OWNER_CONTAINER_BYTES_MAX",
    section: "Tools",
    kind: "integer",
    default: 5_000_000_000,
    min: 0,
    max: 1024 * 1024 * 1024 * MEBIBYTE,
    text: "Most bytes of the files of all containers of one project. 0 sets no limit.",
  },
  containerTtlMs: {
    name: "CONTAINER_TTL",
    section: "Tools",
    kind: "duration",
    default: 20 * MINUTE,
    min: MINUTE,
    max: 30 * DAY,
    needsUnit: true,
    text: "How long a container may be idle, such as 20m or 6h, unless its request sets a time. It then expires and its files are deleted.",
  },
} as const satisfies Readonly<Record<string, Setting>>;
