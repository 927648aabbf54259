import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, it, vi } from 'vitest';
import { missingTools } from '#infra/local/commands/tools.ts';

const folder = mkdtempSync(join(tmpdir(), 'tools-'));
const unreachable = 'http://127.0.0.1:1';
afterAll(() => rmSync(folder, { recursive: true }));
beforeEach(() => {
  vi.stubEnv('PATH', folder);
  vi.stubEnv('STEPFORM_CACHE', join(folder, 'cache'));
  vi.stubEnv('STEPFORM_OPA_RELEASES', unreachable);
  vi.stubEnv('STEPFORM_TERRAFORM_RELEASES', unreachable);
});

it('a start without terraform, OPA and network says that runs and policies will fail, and how to install both', async () => {
  expect(await missingTools()).toEqual([
    expect.stringMatching(
      /^terraform is not on the PATH, and http:\/\/127\.0\.0\.1:1 cannot be reached \(.+\): runs will fail\. Install terraform/,
    ),
    expect.stringMatching(/^Open Policy Agent is not on the PATH, .+: policies will fail\. Install opa \d/),
  ]);
});

it('a start with both on the PATH says nothing', async () => {
  for (const name of ['terraform', 'opa']) {
    writeFileSync(join(folder, name), '');
    chmodSync(join(folder, name), 0o755);
  }
  expect(await missingTools()).toEqual([]);
});
