import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { download } from "@antiphon/speech/recognition/whisper/model/download.ts";
import { findWheelUrl } from "../packages/find-wheel-url.ts";

/** A package of an index, as one file. */
export interface PinnedWheel {
  /** Its name begins with the name of the project. */
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** What analysts use and is pure Python, with all that it needs. The index has no compiled wheels for Pyodide. */
export const PYODIDE_WHEELS: readonly PinnedWheel[] = [
  {
    file: "sympy-1.14.0-py3-none-any.whl",
    bytes: 6_299_353,
    sha256: "e091cc3e99d2141a0ba2847328f5479b05d94a6635cb96148ccb3f34671bd8f5",
  },
  {
    file: "mpmath-1.3.0-py3-none-any.whl",
    bytes: 536_198,
    sha256: "a0b2b9fe80bbcd81a6647ff13108738cfb482d481d826cc0e02f5b35e5c88d2c",
  },
  {
    file: "networkx-3.6.1-py3-none-any.whl",
    bytes: 2_068_504,
    sha256: "d47fbf302e7d9cbbb9e2555a0d267983d2aa476bac30e90dfbe5669bd57f3762",
  },
  {
    file: "openpyxl-3.1.5-py2.py3-none-any.whl",
    bytes: 250_910,
    sha256: "5282c12b107bffeef825f4617dc029afaf41d0ea60823bbb665ef3079dc79de2",
  },
  {
    file: "et_xmlfile-2.0.0-py3-none-any.whl",
    bytes: 18_059,
    sha256: "7a91720bc756843502c3b7504c77b8fe44217c85c537d85037f0f536151b2caa",
  },
  {
    file: "xlsxwriter-3.2.9-py3-none-any.whl",
    bytes: 175_315,
    sha256: "9a5db42bc5dff014806c58a20b9eae7322a134abb6fce3c92c181bfb275ec5b3",
  },
  {
    file: "xlrd-2.0.2-py2.py3-none-any.whl",
    bytes: 96_555,
    sha256: "ea762c3d29f4cca48d82df517b6d89fbce4db3107f9d78713e48cd321d5c9aa9",
  },
  {
    file: "pypdf-6.4.0-py3-none-any.whl",
    bytes: 329_497,
    sha256: "55ab9837ed97fd7fcc5c131d52fcc2223bc5c6b8a1488bbf7c0e27f1f0023a79",
  },
  {
    file: "beautifulsoup4-4.14.3-py3-none-any.whl",
    bytes: 107_721,
    sha256: "0918bfe44902e6ad8d57732ba310582e98da931428d231a5ecb9e7c703a735bb",
  },
  {
    file: "soupsieve-2.8.3-py3-none-any.whl",
    bytes: 37_016,
    sha256: "ed64f2ba4eebeab06cc4962affce381647455978ffc1e36bb79a545b91f45a95",
  },
  {
    file: "typing_extensions-4.15.0-py3-none-any.whl",
    bytes: 44_614,
    sha256: "f0fa19c6845758ab08074a0cfa8b7aecb71c999ca73d62883bc25cc018c4e548",
  },
  {
    file: "tabulate-0.9.0-py3-none-any.whl",
    bytes: 35_252,
    sha256: "024ca478df22e9340661486f85298cff5f6dcdba14f3813e8830015b9ed1948f",
  },
  {
    file: "python_dateutil-2.9.0.post0-py2.py3-none-any.whl",
    bytes: 229_892,
    sha256: "a8b2bc7bffae282281c8140a97d3aa9c14da0b136dfe83f850eea9a5f7470427",
  },
  {
    file: "six-1.17.0-py2.py3-none-any.whl",
    bytes: 11_050,
    sha256: "4721f391ed90541fddacab5acf947aa0d3dc7d27b2e1e8eda2be8970586c3274",
  },
];

export interface WheelsPlan {
  readonly wheels: readonly PinnedWheel[];
  /** In the form of PEP 503, such as `https://pypi.org/simple`. */
  readonly indexUrl: string;
  /** Absolute path of the folder for the wheels; replaced once all are there. */
  readonly folder: string;
  /** Called with the bytes of all wheels so far. */
  readonly onBytes: (bytes: number) => void;
}

/** A second try goes on with what it has. Rejects with `IndexFailed`, `DownloadError`, or the signal's reason. */
export async function fetchPyodideWheels(
  { wheels, indexUrl, folder, onBytes }: WheelsPlan,
  signal: AbortSignal,
): Promise<void> {
  const partial = `${folder}.partial`;
  await mkdir(partial, { recursive: true });
  let bytesBefore = 0;
  for (const { file, bytes, sha256 } of wheels) {
    const url = await findWheelUrl({ indexUrl, project: projectOf(file), file }, signal);
    const onProgress = (receivedBytes: number): void => onBytes(bytesBefore + receivedBytes);
    await download({ url, path: join(partial, file), bytes, sha256, onProgress }, signal);
    bytesBefore += bytes;
    onBytes(bytesBefore);
  }
  const files = new Set(wheels.map(({ file }) => file));
  for (const name of await readdir(partial)) if (!files.has(name)) await rm(join(partial, name)); // Of older versions.
  await rm(folder, { recursive: true, force: true });
  await rename(partial, folder);
}

/** By PEP 503. */
function projectOf(file: string): string {
  return file.slice(0, file.indexOf("-")).replaceAll("_", "-");
}
