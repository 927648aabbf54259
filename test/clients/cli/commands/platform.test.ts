import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { youngGeneration } from '#clients/cli/commands/platform.ts';

it('npm start gives Node the same options as stepform start', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
  expect(scripts.start).toBe(`node ${youngGeneration} infra/local/commands/start.ts`);
});
