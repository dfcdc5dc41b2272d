/**
 * The header `content-disposition` of a download, so that browsers do not display it. The file name has both forms of
 * RFC 6266. The plain form, for old clients, has `_` instead of unsupported characters.
 */
export function attachment(filename: string): string {
  const plain = filename.replaceAll(/[^\x20-\x7e]|["\\%]/g, "_");
  const encodedName = encodeURIComponent(filename.toWellFormed()).replaceAll(/['()*!]/g, percentEncoded);
  return `attachment; filename="${plain}"; filename*=UTF-8''${encodedName}`;
}

function percentEncoded(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
