import { readFileSync, writeFileSync } from 'node:fs';
import { lifecyclePicture } from './lifecycle-picture.ts';
import { notServedTable } from './not-served-operations.ts';
import { apiDescriptionText } from './openapi/description.ts';
import { permissionTables } from './permission-tables.ts';
import { draw } from './pictures/draw.ts';
import { guides } from './pictures/guides.ts';
import { verifyTable } from './verify-table.ts';

/** Generated parts of the documentation: `npm run docs` writes them, a test keeps them current. */
export interface GeneratedPart {
  /** Path from the root of the checkout. */
  file: string;
  /** Name in the markers around the part. */
  name: string;
  text(): string;
}

export const generatedParts: GeneratedPart[] = [
  { file: 'infra/docs/architecture.md', name: 'lifecycle', text: lifecyclePicture },
  { file: 'infra/docs/aws.md', name: 'checks', text: verifyTable },
  { file: 'infra/docs/not-served.md', name: 'not served', text: notServedTable },
  { file: 'infra/docs/permissions.md', name: 'permissions', text: permissionTables },
];

const root = new URL('../../', import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, root), 'utf8');

/** @throws {Error} if the document lacks the markers */
export const withGenerated = ({ file, name, text }: GeneratedPart, document = read(file)): string => {
  const first = `<!-- ${name}: written by \`npm run docs\` -->`;
  const last = `<!-- end of ${name} -->`;
  const start = document.indexOf(first);
  const end = document.indexOf(last);
  if (start < 0 || end < start) throw new Error(`${file} lacks the markers ${first} and ${last}`);
  return `${document.slice(0, start + first.length)}\n\n${text()}\n\n${document.slice(end)}`;
};

/** Path of the API's description from the root of the checkout. */
export const apiDescriptionFile = 'infra/docs/openapi.json';

/** Drawn pictures, by path from the root of the checkout. */
export const pictures = (): [file: string, svg: string][] =>
  guides.map((guide) => [`infra/docs/pictures/${guide.name}.svg`, draw(guide)]);

if (import.meta.main) {
  for (const part of generatedParts) writeFileSync(new URL(part.file, root), withGenerated(part));
  for (const [file, svg] of pictures()) writeFileSync(new URL(file, root), svg);
  writeFileSync(new URL(apiDescriptionFile, root), apiDescriptionText());
}
