import { type Answer, created, json } from '#api/answer.ts';
import { deletedMeanwhile, notFound, unprocessable } from '#api/errors.ts';
import { byId, param } from '#api/finders.ts';
import { includable } from '#api/include.ts';
import { nameOf } from '#api/naming.ts';
import { wholeList } from '#api/pagination.ts';
import { type Context, noContentAfter, type Route, route } from '#api/route.ts';
import { derivedId } from '#platform/store/id.ts';
import { type InOrganization, organization } from '#resources/organizations/finder.ts';
import { addressOf } from '#resources/registry/modules/document.ts';
import { getModule, type Module } from '#resources/registry/modules/records.ts';
import { effectiveVariables } from '#resources/runs/inputs.ts';
import { noCodeDocument, optionDocument } from './document.ts';
import { checkOptions, readNoCode } from './input.ts';
import {
  createNoCodeModule,
  deleteNoCodeModule,
  getNoCodeModule,
  moduleOf,
  type NoCodeModule,
  updateNoCodeModule,
} from './records.ts';
import { checkPin, currentRelease, releaseOf } from './versions.ts';

/** Enables, changes and reads no-code provisioning of modules; workspace-routes.ts creates the workspaces. */

const include = includable('variable_options');

const noCodeModule = byId({
  what: 'no-code module',
  parameter: 'noCode',
  get: getNoCodeModule,
  visibleWith: 'registry:read',
});

const modulePointer = '/data/relationships/registry-module';

/** @throws {ApiError} 422 */
const moduleIn = async (organizationName: string, id: string | undefined): Promise<Module> => {
  if (id === undefined) throw unprocessable(modulePointer, 'registry-module: is missing');
  const module = await getModule(id);
  if (module?.organization !== organizationName) {
    throw unprocessable(modulePointer, `registry-module: ${id} not found in ${nameOf(organizationName)}`);
  }
  return module;
};

const create = async ({ request, subject }: Context<InOrganization>): Promise<Answer> => {
  const { moduleId, enabled = true, options = [], versionPin } = readNoCode(request);
  const module = await moduleIn(subject.organization, moduleId);
  await checkPin(module, versionPin);
  const settings = { enabled, options, ...(versionPin ? { versionPin } : {}) };
  if (options.length > 0) checkOptions(options, await currentRelease(module, settings));
  const noCode = await createNoCodeModule(module, settings);
  if (!noCode) {
    throw unprocessable(modulePointer, `registry-module: ${addressOf(module)} already has a no-code module`);
  }
  return created(noCodeDocument(noCode));
};

const shown = ({ request }: Pick<Context<NoCodeModule>, 'request'>, noCode: NoCodeModule): Answer => {
  const included = include.of(request).has('variable_options')
    ? { included: noCode.options.map((option) => optionDocument(noCode.id, option)) }
    : {};
  return json(200, { data: noCodeDocument(noCode), ...included });
};

const update = async (context: Context<NoCodeModule>): Promise<Answer> => {
  const { subject } = context;
  const { moduleId, ...change } = readNoCode(context.request);
  if (moduleId !== undefined && moduleId !== subject.moduleId) {
    throw unprocessable(modulePointer, 'registry-module: cannot be changed; create another no-code module');
  }
  const next = { ...subject, ...change };
  if (change.versionPin !== undefined || change.options) {
    const module = await moduleOf(subject);
    await checkPin(module, change.versionPin);
    if (next.options.length > 0) checkOptions(next.options, await currentRelease(module, next));
  }
  const updated = Object.keys(change).length > 0 ? await updateNoCodeModule(subject, change) : subject;
  if (!updated) throw deletedMeanwhile('no-code module');
  return shown(context, updated);
};

/** Keys of variables in sets that apply to every workspace of the organization. */
const globalKeys = async (of: string): Promise<Set<string>> => {
  const effective = await effectiveVariables({ id: 'none', organization: of, projectId: 'none' });
  return new Set(effective.flatMap(({ variable: { category, key } }) => (category === 'terraform' ? [key] : [])));
};

const variables = async ({ request, subject }: Context<NoCodeModule>): Promise<Answer> => {
  const version = param(request, 'moduleVersion');
  const module = await moduleOf(subject);
  const release = await releaseOf(module, version);
  if (!release) throw notFound(`Version ${version.slice(0, 100)} of ${addressOf(module)} not found.`);
  const everywhere = await globalKeys(subject.organization);
  const documents = release.root.inputs.map(
    ({ name, type, description, required, sensitive = false, allowed = [] }) => ({
      id: derivedId('modvar', `${module.id} ${version} ${name}`),
      type: 'registry-module-variables',
      attributes: {
        name,
        type,
        description,
        required,
        sensitive,
        options: subject.options.find((candidate) => candidate.name === name)?.options ?? allowed,
        'has-global': everywhere.has(name),
      },
    }),
  );
  return wholeList(request, documents);
};

const path = '/no-code-modules/{noCode}';

export const noCodeRoutes: Route[] = [
  route('POST', '/organizations/{organization}/no-code-modules', 'registry:write-modules', organization, create),
  route('GET', path, 'registry:read', noCodeModule, async (context) => shown(context, context.subject), { include }),
  route('PATCH', path, 'registry:write-modules', noCodeModule, update, { include }),
  route('DELETE', path, 'registry:write-modules', noCodeModule, noContentAfter(deleteNoCodeModule)),
  route('GET', `${path}/versions/{moduleVersion}/module-variables`, 'registry:read', noCodeModule, variables),
];
