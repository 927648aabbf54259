import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { Job } from '#run/protocols/runner.ts';
import type { Settings } from '#runner/program/settings.ts';
import { keepCredentials, tokenVariables } from '#runner/program/terraform/credentials.ts';

const home = mkdtempSync(join(tmpdir(), 'home-'));
afterAll(() => rmSync(home, { recursive: true }));

const job = { stateToken: 'sfr_token' } as Job;
const hosts = (...names: string[]) => ({ hosts: names }) as Settings;

it('Terraform finds the token by host name', () => {
  const settings = hosts('tf.my-company.example', 'localhost:8443');
  expect(tokenVariables(job, settings)).toEqual({
    TF_TOKEN_localterraform_com: 'sfr_token',
    TF_TOKEN_tf_my__company_example: 'sfr_token',
  });
  keepCredentials(home, job, settings);
  const file = join(home, '.terraform.d/credentials.tfrc.json');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ credentials: { 'localhost:8443': { token: 'sfr_token' } } });
  const registry = readFileSync(join(home, '.terraform.d/registry.tfrc'), 'utf8');
  expect(registry).toContain('"modules.v1"   = "https://tf.my-company.example/api/registry/v1/modules/"');
  expect(statSync(file).mode & 0o777).toBe(0o600);
});
