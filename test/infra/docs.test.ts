import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { permissions } from '../../functions/api/permissions/permissions.ts';
import { generatedParts, withGenerated } from '../../infra/docs/generate.ts';
import { permissionTables } from '../../infra/docs/permission-tables.ts';

it.each(generatedParts)('$file has its generated part "$name" as the code has it (npm run docs)', (part) => {
  const document = readFileSync(new URL(`../../${part.file}`, import.meta.url), 'utf8');
  expect(withGenerated(part, document)).toBe(document);
});

it('names every permission in the tables', () => {
  const text = permissionTables();
  expect(permissions.filter((permission) => !text.includes(`\`${permission}\``))).toEqual([]);
});
