import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { permissions } from '../../functions/api/permissions/permissions.ts';
import { permissionTables, withTables } from './tables.ts';

it('stand in the README as they are (npm run permissions)', () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  expect(withTables(readme)).toBe(readme);
});

it('name every permission', () => {
  const text = permissionTables();
  expect(permissions.filter((permission) => !text.includes(`\`${permission}\``))).toEqual([]);
});
