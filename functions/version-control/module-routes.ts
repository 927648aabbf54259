import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { type Answer, created } from '#api/answer.ts';
import { unprocessable } from '#api/errors.ts';
import { isNamed, nameOf } from '#api/naming.ts';
import { type Context, type Finder, type Route, route } from '#api/route.ts';
import { readData, setting, text } from '#api/validation.ts';
import { createLimited } from '#platform/store/limited.ts';
import { type InOrganization, organization } from '#resources/organizations/finder.ts';
import { getOrganization } from '#resources/organizations/records.ts';
import { moduleDocument } from '#resources/registry/modules/document.ts';
import { noCodeSetting, noTests, testConfig } from '#resources/registry/modules/input.ts';
import { limitOfModules } from '#resources/registry/modules/limit.ts';
import {
  changeModule,
  connectModule,
  createModule,
  type Module,
  type NoCodeProvisioning,
} from '#resources/registry/modules/records.ts';
import { deleteModule } from '#resources/registry/modules/removal.ts';
import { moduleName, providerName } from '#resources/registry/names.ts';
import { isIdentifier } from '#resources/workspaces/vcs-repo-input.ts';
import { getToken } from './connections.ts';
import { keepDelivery } from './deliveries.ts';
import { getInstallation, isInstallation } from './github-app/installations.ts';
import { getRepository, unfollow } from './repositories.ts';
import { at, checkOrganizationScoped, chosen, connectionIn, followChoice, refused } from './repository-choice.ts';

/** Modules published by tags of their repository (HCP API: registry modules, publish from VCS). */

const folderForm = 'must be a folder of the repository, such as modules/vpc';

/** It becomes part of a URL. `..` and hidden folders are excluded. */
const sourceDirectory = v.pipe(
  v.string(),
  v.maxLength(200, folderForm),
  v.regex(/^\w[\w.-]*(?:\/\w[\w.-]*)*$/, folderForm),
);

const vcsRepo = v.strictObject({
  identifier: v.pipe(v.string(), v.check(isIdentifier, 'must be like owner/name')),
  'oauth-token-id': v.nullish(text(100)),
  'github-app-installation-id': v.nullish(text(100)),
  'display-identifier': v.nullish(text(400)),
  'organization-name': v.nullish(text(100)),
  branch: v.nullish(v.literal('', 'cannot be set: modules are published by tags, not from a branch')),
  tags: v.nullish(v.literal(true, 'cannot be false: modules are published by tags, not from a branch')),
  'source-directory': v.nullish(v.union([v.literal(''), sourceDirectory], folderForm)),
  'tag-prefix': v.nullish(text(100)),
  'ingress-submodules': v.nullish(v.boolean()),
});

const attributes = {
  'vcs-repo': vcsRepo,
  name: setting(moduleName),
  provider: setting(providerName),
  'no-code': noCodeSetting,
  'test-config': setting(testConfig),
};

const others = {
  lacking: {
    // Clients send it although it applies to branches only.
    'initial-version': 'versions come from tags',
  },
};

const conventional = /^terraform-([a-z0-9]{1,64})-(.+)$/;

/** Derived from `terraform-<provider>-<name>`, unless the request has both. @throws {ApiError} 422 */
const addressFrom = (identifier: string, given: { name?: string | null; provider?: string | null }) => {
  if (given.name && given.provider) return { name: given.name, provider: given.provider };
  const [, provider = '', name = ''] = conventional.exec(identifier.split('/').at(-1) ?? '') ?? [];
  const address = { name: given.name ?? name, provider: given.provider ?? provider };
  if (v.is(moduleName, address.name) && v.is(providerName, address.provider)) return address;
  throw refused('identifier', 'must end in terraform-<provider>-<name>; for another repository give name and provider');
};

const creating =
  (noCode: NoCodeProvisioning) =>
  async (context: Context<InOrganization>): Promise<Answer> => {
    const { request, subject, granted } = context;
    const { organization: of } = subject;
    const { attributes: given } = readData(request, attributes, {}, others);
    const repo = given['vcs-repo'];
    const connection = connectionIn(repo);
    const named = repo['organization-name'];
    if (named && !isNamed(of, named)) throw refused('organization-name', `is not ${nameOf(of)}`);
    const folder = repo['source-directory'] || undefined;
    const tests = given['test-config']?.['tests-enabled'];
    if (tests && folder) throw noTests();
    const { name, provider } = addressFrom(repo.identifier, given);
    await checkOrganizationScoped(connection, of);
    // The default that clients expect for modules.
    const ingressSubmodules = repo['ingress-submodules'] ?? true;
    const choice = await chosen({
      identifier: repo.identifier,
      ...connection,
      branch: '',
      ingressSubmodules,
      tagsRegex: null,
    });
    const address = { organization: of, registry: 'private', namespace: of, name, provider } as const;
    const module = await createLimited(limitOfModules(of), () => createModule(address), deleteModule);
    if (!module) throw unprocessable(at, `${name}/${provider} has already been taken`);
    try {
      const followed = await followChoice(choice, module.id);
      const connected = await connectModule(module, {
        vcsRepo: followed,
        tagPrefix: repo['tag-prefix'] || undefined,
        sourceDirectory: folder,
      });
      const { repository } = followed;
      const uuid = (await getRepository(repository))?.uuid ?? '';
      const task = { kind: 'module', moduleId: module.id } as const;
      await keepDelivery({ uuid, id: `connected-${randomUUID()}`, repository, task });
      const tested = tests ? ((await changeModule(connected, { tests: { enabled: true } })) ?? connected) : connected;
      const complete = given['no-code'] ? await noCode.enable(tested, true) : tested;
      return created(moduleDocument({ module: complete, versions: [] }, granted));
    } catch (error) {
      await deleteModule(module);
      throw error;
    }
  };

/** Disconnects a deleted module from its repository. */
export const leaveModuleRepo = async ({ id, vcsRepo: followed }: Module): Promise<void> => {
  if (followed) await unfollow(followed, id);
};

/** The organization of the connection in the body. */
const ofConnection: Finder<InOrganization> = {
  ...organization,
  parameter: 'vcs-repo',
  find: async (request) => {
    const body = request.json() as { data?: { attributes?: { 'vcs-repo'?: Record<string, unknown> } } } | undefined;
    const repo = body?.data?.attributes?.['vcs-repo'];
    const id = repo?.['oauth-token-id'] || repo?.['github-app-installation-id'];
    if (typeof id !== 'string') return undefined;
    const connection = isInstallation(id) ? await getInstallation(id) : await getToken(id);
    const record = connection && (await getOrganization(connection.organization));
    return record && { organization: record.name, record };
  },
};

const inOrganization = '/organizations/{organization}/registry-modules/vcs';

export const moduleRepositoryRoutes = (noCode: NoCodeProvisioning): Route[] => [
  route('POST', inOrganization, 'registry:write-modules', organization, creating(noCode)),
  route('POST', '/registry-modules', 'registry:write-modules', ofConnection, creating(noCode)),
];
