/** S3's response format: elements by name, one per entry of a list, none for undefined. */
export const xml = (content: object): string => `<?xml version="1.0" encoding="UTF-8"?>\n${elements(content)}`;

const elements = (content: object): string =>
  Object.entries(content)
    .flatMap(([name, value]) => [value].flat().map((one) => [name, one] as const))
    .map(([name, value]) => (value === undefined ? '' : `<${name}>${inner(value)}</${name}>`))
    .join('');

const inner = (value: unknown): string =>
  typeof value === 'object' && value !== null ? elements(value) : escapeXml(String(value));

export const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
