import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { permissions } from '../../functions/api/permissions/permissions.ts';
import { generatedParts, withGenerated } from '../../infra/docs/generate.ts';
import { permissionTables } from '../../infra/docs/permission-tables.ts';

it.each(generatedParts)('keeps the generated part "$name" of $file up to date (npm run docs)', (part) => {
  const document = readFileSync(new URL(`../../${part.file}`, import.meta.url), 'utf8');
  expect(withGenerated(part, document)).toBe(document);
});

it('lists every permission in the tables', () => {
  const text = permissionTables();
  expect(permissions.filter((permission) => !text.includes(`\`${permission}\``))).toEqual([]);
});
