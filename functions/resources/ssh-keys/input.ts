import * as v from 'valibot';
import type { ApiRequest } from '#api/request.ts';
import { readData, readWhole, text } from '#api/validation.ts';

/** Input of SSH keys and their assignment (HCP API: SSH keys). */

const name = v.pipe(text(250), v.regex(/\S/, 'is empty'));

const value = v.pipe(
  text(16_384),
  v.regex(/\S/, 'is empty'),
  v.check(
    (key) => !/^Proc-Type: 4,ENCRYPTED|^-----BEGIN ENCRYPTED/m.test(key),
    'has a passphrase, which runs cannot enter. Use a key without one',
  ),
);

/** @throws {ApiError} 400 or 422 */
export const readNewSshKey = (request: ApiRequest): { name: string; value: string } =>
  readData(request, { name, value }).attributes;

/** @throws {ApiError} 400 or 422 */
export const readSshKeyChange = (request: ApiRequest): { name?: string; value?: string } =>
  readData(request, { name: v.optional(name), value: v.optional(value) }).attributes;

const id = v.nullable(v.pipe(v.string(), v.maxLength(100)));

/** Accepts the form that HCP Terraform's clients send, and the one in its API description. */
const assignment = v.object({
  data: v.nullable(
    v.union([
      v.object({ attributes: v.object({ id }) }, 'must name an SSH key by attributes.id, or by id'),
      v.object({ type: v.literal('ssh-keys'), id }),
    ]),
  ),
});

/** The id; null to remove the key. @throws {ApiError} 400 or 422 */
export const readAssignment = (request: ApiRequest): string | null => {
  const { data } = readWhole(request, assignment);
  if (data === null) return null;
  return ('attributes' in data ? data.attributes.id : data.id) || null;
};
