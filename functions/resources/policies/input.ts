import * as v from 'valibot';
import { unprocessable } from '#api/errors.ts';
import type { OtherFields } from '#api/known-attributes.ts';
import { nameOf } from '#api/naming.ts';
import type { ApiRequest } from '#api/request.ts';
import { identifier, readData, readWhole, setting, text } from '#api/validation.ts';
import { givenValue } from '#resources/variables/input.ts';
import type { VariableValues } from '#resources/variables/records.ts';
import { type EnforcementLevel, enforcementLevels, type PolicyKind, policyKinds } from '#run/policies.ts';
import { maxQuery } from './engine/policies-file.ts';
import { getPolicies, type Policy } from './records.ts';
import { maxRelated, type PolicySet } from './set-records.ts';

/** Input of policies and parameters (HCP API: policies, policy set parameters). */

const policyFields: OtherFields = { shown: 'policy-set-count updated-at', related: 'organization policy-sets' };

const parameterFields: OtherFields = {
  shown: 'created-at version-id',
  related: 'configurable overwriter overwritten policy-set varset workspace',
  lacking: { description: 'policy set parameters have no description', hcl: 'policy set parameters are plain text' },
};

export const policyName = v.pipe(
  text(90),
  v.regex(/^[A-Za-z0-9_-]+$/, 'must be letters, digits, "-" and "_", and not empty'),
);

export const kind = v.optional(v.picklist(policyKinds), 'sentinel');

/** `enforce` is the older form: its first entry's mode is used, and its path is ignored. */
const settings = {
  description: setting(text(1000)),
  query: setting(text(maxQuery)),
  'enforcement-level': setting(v.string()),
  enforce: v.nullish(v.array(v.object({ mode: v.nullish(v.string()), path: v.nullish(v.string()) }))),
};

type LevelInput = { 'enforcement-level'?: string | null; enforce?: { mode?: string | null }[] | null };

const levelOf = (attributes: LevelInput, ofKind: PolicyKind): EnforcementLevel | undefined => {
  const mode = attributes.enforce?.[0]?.mode;
  const [level, pointer] = attributes['enforcement-level']
    ? [attributes['enforcement-level'], 'enforcement-level']
    : [mode, 'enforce/0/mode'];
  if (level === undefined || level === null) return undefined;
  const levels: readonly EnforcementLevel[] = enforcementLevels[ofKind];
  const valid = levels.find((candidate) => candidate === level);
  if (valid) return valid;
  throw unprocessable(
    `/data/attributes/${pointer}`,
    `${pointer.split('/')[0]}: must be one of ${levels.join(', ')} for kind ${ofKind}`,
  );
};

const checkQuery = (query: string | null | undefined, ofKind: PolicyKind): string | null => {
  const trimmed = query?.trim();
  if (trimmed) return trimmed;
  // Sets of this kind contain Rego, which needs a query, and Sentinel, which has one rule.
  if (ofKind === 'sentinel') return null;
  throw unprocessable(
    '/data/attributes/query',
    'query: is required for OPA policies: the rule to evaluate, e.g. data.terraform.deny',
  );
};

/** @throws {ApiError} 400 or 422 */
export const readNewPolicy = (request: ApiRequest, organization: string) => {
  const { attributes, relationships } = readData(
    request,
    { ...settings, name: policyName, kind },
    { 'policy-sets': v.optional(v.object({ data: v.array(identifier('policy-sets')) })) },
    policyFields,
  );
  const policy = {
    organization,
    name: attributes.name,
    kind: attributes.kind,
    description: attributes.description ?? null,
    query: checkQuery(attributes.query, attributes.kind),
    enforcementLevel: levelOf(attributes, attributes.kind) ?? enforcementLevels[attributes.kind][0],
  };
  return { policy, policySetIds: [...new Set(relationships['policy-sets']?.data.map(({ id }) => id) ?? [])] };
};

/** @throws {ApiError} 400 or 422 */
export const readPolicyChange = (request: ApiRequest, policy: Policy) => {
  const forGood = (value: string) =>
    v.optional(v.literal(value, `is ${value} and cannot be changed; create another policy`));
  const { attributes } = readData(
    request,
    { ...settings, name: forGood(policy.name), kind: forGood(policy.kind) },
    {},
    policyFields,
  );
  return {
    ...(attributes.description === undefined ? {} : { description: attributes.description }),
    ...(attributes.query === undefined ? {} : { query: checkQuery(attributes.query, policy.kind) }),
    enforcementLevel: levelOf(attributes, policy.kind) ?? policy.enforcementLevel,
  };
};

/** @throws {ApiError} 422 when the set cannot contain individually managed policies */
export const checkOwnPolicies = (set: PolicySet, pointer: string): void => {
  if (set.newestVersionId) {
    throw unprocessable(
      pointer,
      `policies: policy set ${set.name} gets its policies from uploaded versions; upload a new version`,
    );
  }
};

/**
 * @throws {ApiError} 422 when the set cannot contain individually managed policies, or a policy is missing or of another
 * kind
 */
export const checkPolicies = async (set: PolicySet, ids: string[], pointer: string): Promise<void> => {
  if (ids.length === 0) return;
  checkOwnPolicies(set, pointer);
  const policies = await getPolicies(ids);
  const fits = new Set(
    policies
      .filter((policy) => policy.organization === set.organization && policy.kind === set.kind)
      .map(({ id }) => id),
  );
  const missing = ids.find((id) => !fits.has(id));
  if (missing !== undefined) {
    const description = `${missing.slice(0, 100)} of kind ${set.kind} in organization ${nameOf(set.organization)}`;
    throw unprocessable(pointer, `policies: policy ${description} not found`);
  }
};

export const toMany = <T extends string>(type: T, max: number) =>
  v.object({ data: v.pipe(v.array(identifier(type)), v.maxLength(max, `may have at most ${max}`)) });

/** The policies in a body that adds them to a set or removes them. @throws {ApiError} 400 or 422 */
export const readPolicies = (request: ApiRequest): string[] => {
  const { data } = readWhole(request, toMany('policies', maxRelated.policyIds));
  return [...new Set(data.map(({ id }) => id))];
};

const parameter = {
  value: setting(text(256 * 1024)),
  sensitive: setting(v.boolean()),
  category: v.nullish(v.picklist(['policy-set'])),
};

const key = v.pipe(text(128), v.regex(/^\S+$/, 'must not be empty or contain spaces'));

/** @throws {ApiError} 400 or 422 */
export const readNewParameter = (request: ApiRequest): VariableValues => {
  const { attributes } = readData(request, { ...parameter, key }, {}, parameterFields);
  return {
    key: attributes.key,
    value: attributes.value ?? '',
    sensitive: attributes.sensitive ?? false,
    category: 'policy-set',
    hcl: false,
    description: null,
  };
};

/** A sensitive parameter stays sensitive and keeps its key: its value must not become readable. @throws {ApiError} 400 or 422 */
export const readParameterChange = (
  request: ApiRequest,
  current: Pick<VariableValues, 'key' | 'sensitive'>,
): Partial<VariableValues> => {
  const { attributes } = readData(request, { ...parameter, key: v.optional(key) }, {}, parameterFields);
  const advice = 'of a sensitive parameter cannot be changed. Delete it and create a new one.';
  if (current.sensitive && attributes.sensitive === false) {
    throw unprocessable('/data/attributes/sensitive', `sensitive: ${advice}`);
  }
  if (current.sensitive && attributes.key !== undefined && attributes.key !== current.key) {
    throw unprocessable('/data/attributes/key', `key: ${advice}`);
  }
  return {
    ...(attributes.key === undefined ? {} : { key: attributes.key }),
    ...givenValue(current, attributes.value),
    ...(typeof attributes.sensitive === 'boolean' ? { sensitive: attributes.sensitive } : {}),
  };
};
