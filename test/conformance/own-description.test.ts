import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { apiDescriptionFile } from '#infra/docs/generate.ts';
import { undescribed } from './own-description.ts';
import type { Recorded } from './record.ts';

const description = JSON.parse(readFileSync(apiDescriptionFile, 'utf8'));

const answer = (method: string, path: string, status: number, data?: unknown): Recorded => ({
  method,
  url: `/api/v2/${path}`,
  status,
  contentType: 'application/vnd.api+json',
  body: data === undefined ? undefined : JSON.stringify({ data }),
});
const problems = (...answers: Recorded[]) => undescribed(description, answers);

it('accepts responses with the described status and resources', () => {
  const accepted = [
    answer('POST', 'organizations/acme/ssh-keys', 201, { type: 'ssh-keys' }),
    answer('GET', 'organizations/acme/ssh-keys?page[size]=1', 200, [{ type: 'ssh-keys' }]),
    answer('DELETE', 'ssh-keys/sshkey-1', 204),
    answer('GET', 'ssh-keys/sshkey-1', 404, undefined),
    answer('GET', 'policy-checks/polchk-1/output', 200),
  ];
  expect(problems(...accepted)).toEqual([]);
});

it.each([
  [answer('POST', 'organizations/acme/ssh-keys', 200, { type: 'ssh-keys' }), '200 is not among 201'],
  [answer('POST', 'organizations/acme/ssh-keys', 201, { type: 'keys' }), '201 has keys, not ssh-keys'],
  [answer('POST', 'organizations/acme/ssh-keys', 201), '201 has no body'],
  [answer('GET', 'organizations/acme/ssh-keys', 200, { type: 'ssh-keys' }), '200 is no list'],
  [answer('DELETE', 'ssh-keys/sshkey-1', 204, {}), '204 has a body'],
])('reports %j', (wrong, problem) => {
  expect(problems(wrong)).toEqual([expect.stringContaining(problem)]);
});
