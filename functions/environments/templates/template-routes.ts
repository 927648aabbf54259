import { nameOf } from '#api/naming.ts';
import { deleteWorkspace } from '#removal/workspaces.ts';
import { getOrganization, type Organization } from '#resources/organizations/records.ts';
import { getUser } from '#resources/users/users.ts';
import { getWorkspace } from '#resources/workspaces/records.ts';
import { type Rights, rightsIn } from '../access.ts';
import { created, notModified, ok } from '../host/answers.ts';
import { readBody, searchIn } from '../host/body.ts';
import { CoderError, forbidden, notFound } from '../host/errors.ts';
import { type AuditedAction, audited, type Call, type Route, refused, route } from '../host/route.ts';
import { newUuid, presentUuid, uuidIn } from '../host/uuid.ts';
import { findOrganization, organizationsOf } from '../people/users.ts';
import { wakeIfPooled } from '../prebuilds/pool.ts';
import { markTemplate } from '../quotas/records.ts';
import { createManagedWorkspace } from '../runs.ts';
import { lookSoon } from './environment-times.ts';
import { settleVersion } from './import.ts';
import {
  createTemplate,
  defaultTemplateSettings,
  findTemplate,
  getTemplate,
  hasEnvironments,
  listTemplates,
  markDeleted,
  type Template,
  unmarkDeleted,
  updateTemplate,
} from './records.ts';
import { templateDocument } from './template-document.ts';
import {
  changesSchedules,
  differs,
  newTemplate,
  settingsIn,
  templateChange,
  withAbsentFlags,
} from './template-input.ts';
import { adoptVersion, getVersion, type Version } from './versions.ts';

/** Creates, changes and deletes templates; template-version-routes.ts handles their versions. */

export interface SeenTemplate {
  template: Template;
  rights: Rights;
}

const seenTemplate = async ({ principal }: Call, template: Template | undefined): Promise<SeenTemplate> => {
  if (!template) throw notFound();
  const rights = await rightsIn(principal, template);
  if (!rights.read) throw notFound();
  return { template, rights };
};

export const templateById = async (call: Call): Promise<SeenTemplate> =>
  seenTemplate(call, await getTemplate(uuidIn(call.request.params.template ?? '')));

const organizationIn = async (call: Call): Promise<Organization> => {
  const organization = await findOrganization(call, call.request.params.organization ?? '');
  if (!organization) throw notFound();
  return organization;
};

export const templateByName = async (call: Call): Promise<SeenTemplate> => {
  const { name } = await organizationIn(call);
  return seenTemplate(call, await findTemplate(name, call.request.params.name ?? ''));
};

const auditedActionOf = (action: string, { id, name }: Partial<Pick<Template, 'id' | 'name'>> = {}): AuditedAction => ({
  type: 'template',
  action,
  id,
  name,
});

/** @throws {CoderError} 403 */
export const managedTemplate = async (call: Call, action: string): Promise<Template> => {
  const { template, rights } = await templateById(call);
  if (!rights.manage) throw await refused(call, template.organization, auditedActionOf(action, template), forbidden());
  return template;
};

const nameTaken = (name: string) =>
  new CoderError(409, `Template with name "${name}" already exists.`, undefined, [
    { field: 'name', detail: 'This value is already in use and should be unique.' },
  ]);

/** A version without a template. @throws {CoderError} */
const freeVersion = async (id: string | undefined, organization: string): Promise<Version> => {
  const requested = id === undefined ? undefined : await getVersion(id);
  if (requested?.organization !== organization) throw new CoderError(404, `Template version "${id}" does not exist.`);
  const { version } = await settleVersion(requested);
  if (version.templateId) throw new CoderError(400, `Template version ${version.id} is already part of a template`);
  if (version.archived) throw new CoderError(400, `Template version ${version.id} is archived.`);
  if (!version.completedAt || version.error || version.canceledAt) {
    throw new CoderError(400, 'Only versions that have been built successfully can be made a template.', version.error);
  }
  return version;
};

const create = async (call: Call) => {
  const organization = await organizationIn(call);
  const home = { organization: organization.name, projectId: organization.defaultProjectId };
  const rights = await rightsIn(call.principal, home);
  if (!rights.read) throw notFound();
  if (!rights.manage) throw await refused(call, organization.name, auditedActionOf('create'), forbidden());
  const input = readBody(call.request, newTemplate);
  if (input.disable_everyone_group_access) {
    throw new CoderError(400, 'disable_everyone_group_access is not supported: permissions come from the project.');
  }
  const settings = settingsIn(input);
  if (await findTemplate(home.organization, input.name)) throw nameTaken(input.name);
  const version = await freeVersion(presentUuid(input.template_version_id), home.organization);
  const user = await getUser(call.principal.userId);
  const id = newUuid();
  return audited(call, home.organization, auditedActionOf('create', { id, name: input.name }), async () => {
    const at = new Date().toISOString();
    const workspace = await createManagedWorkspace(
      home,
      `template-${input.name}-${id.slice(0, 8)}`,
      `template ${input.name}`,
    );
    const template = await createTemplate({
      ...defaultTemplateSettings,
      ...settings,
      ...home,
      id,
      name: input.name,
      activeVersionId: version.id,
      workspaceId: workspace.id,
      createdBy: call.principal.userId,
      createdByName: user?.username ?? '',
      createdAt: at,
      updatedAt: at,
    });
    if (!template || !(await adoptVersion(version, id))) {
      if (template) await markDeleted(template);
      await deleteWorkspace(workspace, { by: call.principal.userId, force: true });
      throw nameTaken(input.name);
    }
    await wakeIfPooled(template);
    // Setting the first quota marks the organization, then its templates.
    if ((await getOrganization(organization.name))?.hasQuotas) await markTemplate(template);
    return created(templateDocument(template));
  });
};

const searchKeys = ['', 'exact_name', 'name', 'organization', 'deprecated', 'author'];

const list = async (call: Call, organizations: Organization[]) => {
  const search = searchIn(call.request, searchKeys);
  const all: Template[] = [];
  for (const { name, defaultProjectId } of organizations) {
    const organization = search.get('organization');
    if (organization && nameOf(name).toLowerCase() !== organization) continue;
    const rights = await rightsIn(call.principal, { organization: name, projectId: defaultProjectId });
    if (rights.read) all.push(...(await listTemplates(name)));
  }
  const exact = search.get('exact_name');
  const part = search.get('name') ?? search.get('');
  const deprecated = search.get('deprecated');
  const author = search.get('author');
  const fits = ({ name, deprecationMessage, createdByName, createdBy }: Template) =>
    (exact === undefined || name.toLowerCase() === exact) &&
    (part === undefined || name.toLowerCase().includes(part)) &&
    (deprecated === undefined || (deprecationMessage !== '') === (deprecated === 'true')) &&
    (author === undefined ||
      (author === 'me' ? createdBy === call.principal.userId : createdByName.toLowerCase() === author));
  return ok(all.filter(fits).map(templateDocument));
};

const change = async (call: Call) => {
  const template = await managedTemplate(call, 'update');
  const input = withAbsentFlags(readBody(call.request, templateChange));
  if (input.disable_everyone_group_access) {
    throw new CoderError(400, 'disable_everyone_group_access is not supported: permissions come from the project.');
  }
  const settings = {
    ...settingsIn(input),
    ...(input.name ? { name: input.name } : {}),
    ...(typeof input.deprecation_message === 'string' ? { deprecationMessage: input.deprecation_message } : {}),
  };
  const { update_workspace_last_used_at: used, update_workspace_dormant_at: dormant } = input;
  if (!differs(template, settings) && !used && !dormant) return notModified();
  return audited(call, template.organization, auditedActionOf('update', template), async () => {
    // Before the write: an interruption costs only one unnecessary check of the environments by the sweep.
    if (used || dormant || changesSchedules(template, settings)) await lookSoon(template.id, { used, dormant });
    const updated = await updateTemplate(template, settings);
    if (updated === 'name taken') throw nameTaken(input.name ?? '');
    if (!updated) throw notFound();
    await wakeIfPooled(updated);
    return ok(templateDocument(updated));
  });
};

const inUse = () => new CoderError(400, 'All workspaces must be deleted before a template can be removed.');

const remove = async (call: Call) => {
  const template = await managedTemplate(call, 'delete');
  if (await hasEnvironments(template.id)) throw inUse();
  return audited(call, template.organization, auditedActionOf('delete', template), async () => {
    await markDeleted(template);
    // A new environment is written first, and then checks that the template still exists.
    if (await hasEnvironments(template.id)) {
      await unmarkDeleted(template);
      throw inUse();
    }
    const workspace = await getWorkspace(template.workspaceId);
    if (workspace) await deleteWorkspace(workspace, { by: call.principal.userId, force: true });
    return ok({ message: 'Template has been deleted!' });
  });
};

export const templateRoutes: Route[] = [
  route('POST', '/organizations/{organization}/templates', create),
  route('GET', '/templates', async (call) => list(call, await organizationsOf(call.principal)), { query: ['q'] }),
  route('GET', '/organizations/{organization}/templates', async (call) => list(call, [await organizationIn(call)]), {
    query: ['q'],
  }),
  route('GET', '/organizations/{organization}/templates/{name}', async (call) =>
    ok(templateDocument((await templateByName(call)).template)),
  ),
  route('GET', '/templates/{template}', async (call) => ok(templateDocument((await templateById(call)).template))),
  route('PATCH', '/templates/{template}', change),
  route('DELETE', '/templates/{template}', remove),
];
