import * as v from 'valibot';
import { newId } from '#platform/store/id.ts';
import type { Organization } from '#resources/organizations/records.ts';
import { getUser } from '#resources/users/users.ts';
import { checkAdmitted } from '#resources/workspaces/admitted-runs.ts';
import { checkNotDraining } from '#resources/workspaces/drain.ts';
import { getWorkspace, type Workspace } from '#resources/workspaces/records.ts';
import { rightsIn } from '../access.ts';
import { created } from '../host/answers.ts';
import { idField, listOf, nameValue, readBody, text, versionName } from '../host/body.ts';
import { CoderError, forbidden, notFound } from '../host/errors.ts';
import { audited, type Call, refused } from '../host/route.ts';
import { newUuid, presentUuid } from '../host/uuid.ts';
import { findOrganization } from '../people/users.ts';
import { type ArchiveFile, filesInTar } from './archive.ts';
import { noteUse, readableFile } from './file-access.ts';
import { type File, readFileContent } from './files.ts';
import { importWorkspace, runsOf, startImport } from './import.ts';
import { randomName } from './names.ts';
import { getTemplate, type Template } from './records.ts';
import { declaredVariables, openValue, type Variable, withValue } from './variables.ts';
import { versionDocument } from './version-document.ts';
import { createVersion, getVersion, type Version } from './versions.ts';

/** Creates versions from files and values, and starts their import. */

const body = v.object({
  name: v.nullish(v.union([v.literal(''), versionName])),
  message: v.nullish(text(1 << 20)),
  template_id: idField,
  storage_method: v.nullish(v.picklist(['file'])),
  file_id: idField,
  example_id: v.nullish(v.literal('')),
  provisioner: v.nullish(v.picklist(['terraform', ''])),
  tags: v.nullish(v.record(v.string(), v.string())),
  user_variable_values: listOf(nameValue),
});

const auditAction = { type: 'template_version', action: 'create' };

/** The README in the root folder, which the page shows. */
const readmeIn = (files: ArchiveFile[]): string =>
  files
    .find(({ name }) => /^readme\.md$/i.test(name))
    ?.content.toString('utf8')
    .slice(0, 64 * 1024) ?? '';

/** Values from the request, otherwise from the template's active version. */
const valuesFor = async (
  versionId: string,
  declared: Variable[],
  values: { name: string; value: string }[],
  active: Version | undefined,
): Promise<Variable[]> => {
  const unknown = values.find(({ name }) => !declared.some((declaration) => declaration.name === name));
  if (unknown) throw new CoderError(400, `The template has no variable "${unknown.name}".`);
  return Promise.all(
    declared.map(async (variable) => {
      const former = active?.variables.find(({ name }) => name === variable.name);
      const value =
        values.find(({ name }) => name === variable.name)?.value ??
        (active && former ? await openValue(active.id, former) : undefined);
      return value === undefined ? variable : withValue(versionId, variable, value);
    }),
  );
};

const missing = (variables: Variable[]): string[] =>
  variables.filter(({ required, value, sealed }) => required && value === undefined && !sealed).map(({ name }) => name);

const conflict = (name: string) =>
  new CoderError(409, `A template version with name "${name}" already exists for this template.`, undefined, [
    { field: 'name', detail: 'This value is already in use and should be unique.' },
  ]);

const templateOf = async (organization: Organization, id: string | undefined): Promise<Template | undefined> => {
  if (id === undefined) return undefined;
  const template = await getTemplate(id);
  if (template?.organization === organization.name) return template;
  throw new CoderError(404, 'Template does not exist.');
};

interface Wanted {
  organization: Organization;
  template: Template | undefined;
  file: File;
  files: ArchiveFile[];
  name: string;
  message: string;
  values: { name: string; value: string }[];
}

const read = async (call: Call): Promise<Wanted> => {
  const organization = await findOrganization(call, call.request.params.organization ?? '');
  if (!organization) throw notFound();
  const home = { organization: organization.name, projectId: organization.defaultProjectId };
  const rights = await rightsIn(call.principal, home);
  if (!rights.read) throw notFound();
  if (!rights.manage) throw await refused(call, organization.name, auditAction, forbidden());
  // The import plans what was uploaded.
  if (!rights.create) {
    const reason = forbidden(
      'Importing a template version plans it: this needs the permission to plan runs (run:plan).',
    );
    throw await refused(call, organization.name, auditAction, reason);
  }
  const input = readBody(call.request, body);
  const template = await templateOf(organization, presentUuid(input.template_id));
  const fileId = presentUuid(input.file_id);
  const file = fileId === undefined ? undefined : await readableFile(call, fileId);
  const tar = file && (await readFileContent(file));
  if (!file || !tar) throw new CoderError(404, 'File not found.');
  const name = input.name || randomName();
  const files = await filesInTar(tar);
  const { message, user_variable_values: values = [] } = input;
  return { organization, template, file, files, name, message: message ?? '', values };
};

export const postVersion = async (call: Call) => {
  const input = await read(call);
  const { organization, template, file, files, name } = input;
  const home = { organization: organization.name, projectId: organization.defaultProjectId };
  const active = template && (await getVersion(template.activeVersionId));
  const id = newUuid();
  const variables = await valuesFor(id, declaredVariables(files), input.values, active);
  const user = await getUser(call.principal.userId);
  return audited(call, organization.name, { ...auditAction, id, name }, async () => {
    const workspace = await workspaceFor(home, template);
    checkAdmitted(workspace);
    await checkNotDraining();
    const version = versionOf(id, call, input, { workspace, variables, username: user?.username ?? '' });
    if (!(await createVersion(version))) throw conflict(name);
    await noteUse(file, home);
    if (!version.completedAt) await startImport(version, workspace);
    return created(versionDocument(version, await runsOf(version)));
  });
};

const workspaceFor = async (home: { organization: string; projectId: string }, template: Template | undefined) =>
  (template && (await getWorkspace(template.workspaceId))) ?? importWorkspace(home);

const versionOf = (
  id: string,
  { principal }: Call,
  { organization, template, file, files, name, message }: Wanted,
  { workspace, variables, username }: { workspace: Workspace; variables: Variable[]; username: string },
): Version => {
  const at = new Date().toISOString();
  const absent = missing(variables);
  const failed: Partial<Version> = {
    completedAt: at,
    startedAt: at,
    error: `required template variables need values: ${absent.join(', ')}`,
    errorCode: 'REQUIRED_TEMPLATE_VARIABLES',
    runIds: [],
  };
  return {
    id,
    jobId: newUuid(),
    organization: organization.name,
    projectId: organization.defaultProjectId,
    templateId: template?.id,
    name,
    message,
    readme: readmeIn(files),
    initiatorId: principal.userId,
    createdByName: username,
    createdAt: at,
    updatedAt: at,
    archived: false,
    fileId: file.id,
    archive: file.archive,
    workspaceId: workspace.id,
    runIds: [newId('run'), newId('run')],
    variables,
    ...(absent.length ? failed : {}),
  };
};
