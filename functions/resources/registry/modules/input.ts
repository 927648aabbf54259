import * as v from 'valibot';
import { unprocessable } from '#api/errors.ts';
import type { OtherFields } from '#api/known-attributes.ts';
import { isNamed, nameOf } from '#api/naming.ts';
import type { ApiRequest } from '#api/request.ts';
import { readData, setting } from '#api/validation.ts';
import { moduleName, namespaceName, providerName, registryName } from '../names.ts';
import { tagRelationship, tagsIn } from '../tags.ts';
import type { Module, ModuleAddress } from './records.ts';

/** Input of modules (HCP API: registry modules). */

const at = '/data/attributes';

const moduleFields: OtherFields = {
  shown: 'created-at permissions publishing-mechanism status updated-at version-statuses',
  related: 'no-code-modules organization',
  lacking: {
    'vcs-repo': 'publish from version control with POST organizations/…/registry-modules/vcs',
    'tag-bindings': 'set the tags of a module with PATCH',
  },
};

/** HCP API: `test-config`. */
export const testConfig = v.strictObject({
  id: v.nullish(v.string()),
  'tests-enabled': setting(v.boolean()),
  'agent-execution-mode': v.nullish(v.literal('remote', 'cannot be agent: tests run on the runners of the platform')),
  'agent-pool-id': v.nullish(v.literal('', 'cannot be set: tests run on the runners of the platform')),
  'agent-pool-name': v.nullish(v.string()),
});

/** Whether workspaces can be made from it (functions/features/no-code/). */
export const noCodeSetting = setting(v.boolean());

const newModule = {
  name: moduleName,
  provider: providerName,
  'registry-name': v.optional(registryName),
  namespace: v.optional(namespaceName),
  'no-code': noCodeSetting,
};

/** @throws {ApiError} 400 or 422 */
export const readNewModule = (
  request: ApiRequest,
  organization: string,
): { address: ModuleAddress; noCode: boolean } => {
  const { attributes } = readData(request, newModule, {}, moduleFields);
  const { name, provider, namespace } = attributes;
  if (namespace !== undefined && attributes['registry-name'] === undefined) {
    throw unprocessable(`${at}/registry-name`, "Registry name can't be blank");
  }
  const registry = attributes['registry-name'] ?? 'private';
  if (registry === 'public' && namespace === undefined) {
    throw unprocessable(`${at}/namespace`, "Namespace can't be blank");
  }
  if (registry === 'private' && namespace !== undefined && !isNamed(organization, namespace)) {
    throw unprocessable(
      `${at}/namespace`,
      `namespace: must be the organization of a private module, ${nameOf(organization)}`,
    );
  }
  const noCode = attributes['no-code'] ?? false;
  const owner = registry === 'private' ? organization : (namespace ?? organization);
  return { address: { organization, name, provider, registry, namespace: owner }, noCode };
};

/** Tests run at the root of a configuration. */
export const noTests = () =>
  unprocessable(`${at}/test-config`, 'test-config: a module with a source-directory has no tests');

/** Changes of its tests and tags, and of no-code provisioning if that changes. @throws {ApiError} 400 or 422 */
export const readModuleChange = (
  request: ApiRequest,
  { registry, noCode, sourceDirectory }: Module,
): { changes: Partial<Pick<Module, 'tests' | 'tags'>>; noCode?: boolean } => {
  const addressed = 'name namespace provider registry-name';
  const fields = { ...moduleFields, shown: `${moduleFields.shown} ${addressed}` };
  const settings = { 'no-code': noCodeSetting, 'test-config': setting(testConfig) };
  const { attributes, relationships } = readData(request, settings, tagRelationship, fields);
  const tests = attributes['test-config']?.['tests-enabled'] ?? undefined;
  if (tests && registry === 'public') {
    throw unprocessable(`${at}/test-config`, 'test-config: only private modules have tests');
  }
  if (tests && sourceDirectory) throw noTests();
  const enabled = attributes['no-code'] ?? undefined;
  // Clients send whole documents back.
  const isSame = enabled === undefined || enabled === (noCode?.enabled ?? false);
  const changes = { ...(tests === undefined ? {} : { tests: { enabled: tests } }), ...tagsIn(relationships) };
  return { changes, ...(isSame ? {} : { noCode: enabled }) };
};
