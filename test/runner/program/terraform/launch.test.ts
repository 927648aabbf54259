import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

it('only the launcher starts programs in a runner', () => {
  const starting = globSync('functions/runner/program/**/*.{ts,mjs}').filter((file) =>
    /import (?!type).*(child_process|node:cluster)/.test(readFileSync(file, 'utf8').replace(/\n(?!import)/g, ' ')),
  );
  expect(starting).toEqual(['functions/runner/program/terraform/launch.ts']);
});
