import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { permissions } from '../../functions/api/permissions/permissions.ts';
import { generatedParts, withGenerated } from '../../infra/docs/generate.ts';
import { notServed, unnamed } from '../../infra/docs/not-served-operations.ts';
import { permissionTables } from '../../infra/docs/permission-tables.ts';

it.each(generatedParts)('keeps the generated part "$name" of $file up to date (npm run docs)', (part) => {
  const document = readFileSync(new URL(`../../${part.file}`, import.meta.url), 'utf8');
  expect(withGenerated(part, document)).toBe(document);
});

it('lists no served operation as not served, and none twice', async () => {
  const { routes } = await import('../../functions/public-api/all-routes.ts');
  const served = new Set(routes.map(({ method, path }) => unnamed(`${method} ${path.replace('/api/v2', '')}`)));
  const listed = notServed.flatMap(({ operations }) => operations);
  expect(listed.filter((operation) => served.has(operation))).toEqual([]);
  expect(new Set(listed).size).toBe(listed.length);
});

it('lists every permission in the tables', () => {
  const text = permissionTables();
  expect(permissions.filter((permission) => !text.includes(`\`${permission}\``))).toEqual([]);
});
