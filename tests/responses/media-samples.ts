import { deflateSync } from "node:zlib";

/** An image of one pixel. */
export const PIXEL =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
export const PIXEL_BYTES = Buffer.from(PIXEL.slice(PIXEL.indexOf(",") + 1), "base64");

/** Four samples at 16 kHz, raw and as a WAV file. */
export const PCM = Buffer.from([1, 0, 2, 0, 3, 0, 4, 0]);
export const WAV = wav(PCM, 16_000, 1).toString("base64");

/** The start of a recording, enough to recognise its format. */
export const MP3 = Buffer.from([0xff, 0xfb, 0x90, 0x64, 0, 0, 0, 0]).toString("base64");
export const OGG = Buffer.from("OggS\0\u0002\0\0\0\0\0\0\0\0", "latin1").toString("base64");

/** As a client that knows the format would write it. */
export function wav(samples: Buffer, sampleRateHz: number, channels: number): Buffer {
  const header = Buffer.alloc(44);
  header.write("RIFF", 0);
  header.writeUInt32LE(36 + samples.length, 4);
  header.write("WAVEfmt ", 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(sampleRateHz, 24);
  header.writeUInt32LE(sampleRateHz * channels * 2, 28);
  header.writeUInt16LE(channels * 2, 32);
  header.writeUInt16LE(16, 34);
  header.write("data", 36);
  header.writeUInt32LE(samples.length, 40);
  return Buffer.concat([header, samples]);
}

/** A valid PDF with one line of text on each page, its contents compressed as usual. */
export function pdfOf(...lines: readonly string[]): Buffer {
  const pages = lines.map((_line, index) => 4 + 2 * index);
  return writePdf([
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Kids [${pages.map((page) => `${page} 0 R`).join(" ")}] /Count ${pages.length} >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ...lines.flatMap((line, index) => [pageAbove(5 + 2 * index), textStream(line)]),
  ]);
}

/** A PDF with these lines on its pages, from the top; each with the height of its letters. */
export function pdfOfLines(
  title: string,
  pages: readonly (readonly (readonly [size: number, text: string])[])[],
): Buffer {
  const places = pages.map((_page, index) => 5 + 2 * index);
  return writePdf(
    [
      "<< /Type /Catalog /Pages 2 0 R >>",
      `<< /Type /Pages /Kids [${places.map((place) => `${place} 0 R`).join(" ")}] /Count ${pages.length} >>`,
      "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
      `<< /Title (${title}) >>`,
      ...pages.flatMap((lines, index) => [pageAbove(6 + 2 * index), packedStream(Buffer.from(linesText(lines)))]),
    ],
    "/Info 4 0 R ",
  );
}

function linesText(lines: readonly (readonly [size: number, text: string])[]): string {
  const moves = lines.map(([size, text]) => `/F1 ${size} Tf 0 -${size * 1.5} Td (${text}) Tj`);
  return `BT 72 760 Td ${moves.join("\n")} ET`;
}

/** A PDF with one page that unpacks to this many bytes of spaces, in this many pieces. */
export function pdfBomb(bytes: number, pieces = 1): Buffer {
  const catalog = ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [4 0 R] /Count 1 >>"];
  const font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>";
  const piece = packedStream(Buffer.alloc(bytes / pieces, " "));
  const page = pageAbove(...Array.from({ length: pieces }, (_piece, index) => 5 + index));
  return writePdf([...catalog, font, page, ...Array.from({ length: pieces }, () => piece)]);
}

export function pdfUrl(pdf: Buffer): string {
  return `data:application/pdf;base64,${pdf.toString("base64")}`;
}

function pageAbove(...contents: readonly number[]): string {
  return `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents [${contents.map((id) => `${id} 0 R`).join(" ")}] /Resources << /Font << /F1 3 0 R >> >> >>`;
}

function textStream(line: string): string {
  return packedStream(Buffer.from(`BT /F1 8 Tf 72 700 Td (${line.replaceAll(/[()\\]/g, String.raw`\$&`)}) Tj ET`));
}

function packedStream(content: Buffer): string {
  const packed = deflateSync(content);
  return `<< /Length ${packed.length} /Filter /FlateDecode >>\nstream\n${packed.toString("latin1")}\nendstream`;
}

/** `facts`: entries of the trailer. */
function writePdf(objects: readonly string[], facts = ""): Buffer {
  let text = "%PDF-1.7\n";
  const offsets = objects.map((object, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const table = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const count = objects.length + 1;
  const end = `trailer\n<< /Size ${count} /Root 1 0 R ${facts}>>\nstartxref\n${text.length}\n%%EOF\n`;
  return Buffer.from(`${text}xref\n0 ${count}\n0000000000 65535 f \n${table}${end}`, "latin1");
}
